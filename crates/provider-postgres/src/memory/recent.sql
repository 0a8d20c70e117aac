-- recent
-- One row for a tenant that exists, even if nothing else does: "nothing said" and "no such tenant"
-- differ. Days are 24 hours whatever the session's time zone. The bounds are worked out once, and each
-- is one condition of the index. The rows come in the order of the index; the caller puts them into it
-- again, which costs nothing when they are, where an "order by" out here would sort them for certain.
select
    p.pending,
    m.*
from tenants t
left join users u on u.tenant_id = $1 and u.user_id = $2
cross join lateral (
    select
        coalesce(u.merged_into, $2) as user_id,
        greatest($3 - (t.config ->> 'ttl_days')::integer * interval '24 hours', $4) as after
) w
cross join lateral (
    select count(*) as pending
    from (
        select
        from cross_channel_messages x
        where x.tenant_id = $1
        and x.user_id = w.user_id
        and x.redaction_state = 'pending'
        and x.expires_at > $3
        and x.created_at > w.after
        and (x.created_at, x.seq) < ($5, $6)
        and ($7::text is null or x.canvas_session_id is distinct from $7)
        and ($8::text[] is null or x.channel_kind = any($8))
        limit $9
    ) x
) p
left join lateral (
    select
        x.id,
        x.seq,
        x.user_id,
        x.channel_kind,
        x.channel_scope,
        x.canvas_session_id,
        x.user_message,
        x.assistant_answer,
        x.tool_calls::text as tool_calls,
        x.metadata::text as metadata,
        x.redaction_state,
        x.redaction_metadata::text as redaction_metadata,
        x.detector_version,
        x.content_form,
        x.created_at
    from cross_channel_messages x
    where x.tenant_id = $1
    and x.user_id = w.user_id
    and x.redaction_state <> 'pending'
    and x.expires_at > $3
    and x.created_at > w.after
    and (x.created_at, x.seq) < ($5, $6)
    and ($7::text is null or x.canvas_session_id is distinct from $7)
    and ($8::text[] is null or x.channel_kind = any($8))
    order by x.created_at desc, x.seq desc
    limit $9 + 1
) m on true
where t.tenant_id = $1
