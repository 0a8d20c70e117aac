-- recent
-- One row for a tenant that exists, even if nothing else does: "nothing said" and "no such tenant"
-- differ. Days are 24 hours whatever the session's time zone.
select
    coalesce(u.merged_into, u.user_id) as whose,
    -- Of the same moment as the turns: what a remembered page is compared with (docs/adr/0042).
    case when u.merged_into is null then u.version else (
        select r.version
        from users r
        where r.tenant_id = $1
        and r.user_id = u.merged_into
    ) end as changes,
    t.config_revision,
    p.pending,
    m.*
from tenants t
left join users u on u.tenant_id = t.tenant_id and u.user_id = $2
-- Groups among the person's accounts: what came through one is read in its scope alone (T-05).
cross join lateral (
    select array(
        select i.user_id
        from users a
        join platform_identities i
        on i.tenant_id = a.tenant_id and i.user_id = a.user_id and i.shared
        where a.tenant_id = $1
        and (
            a.user_id = coalesce(u.merged_into, $2)
            or a.merged_into = coalesce(u.merged_into, $2)
        )
    ) as ids
) g
cross join lateral (
    select count(*) as pending
    from (
        select
        from cross_channel_messages x
        where x.tenant_id = $1
        and x.user_id = coalesce(u.merged_into, $2)
        and x.redaction_state = 'pending'
        and x.expires_at > $3
        and x.created_at > $3 - (t.config ->> 'ttl_days')::integer * interval '24 hours'
        and x.created_at >= $4
        and x.created_at < $5
        and (x.created_at, x.seq) < ($6, $7)
        and ($8::text is null or x.canvas_session_id is distinct from $8)
        and ($9::text[] is null or x.channel_kind = any($9))
        and x.origin_user_id <> all(g.ids)
        limit $10
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
        x.created_at,
        least(
            x.expires_at,
            x.created_at + (t.config ->> 'ttl_days')::integer * interval '24 hours'
        ) as ends_at
    from cross_channel_messages x
    where x.tenant_id = $1
    and x.user_id = coalesce(u.merged_into, $2)
    and x.redaction_state <> 'pending'
    and x.expires_at > $3
    and x.created_at > $3 - (t.config ->> 'ttl_days')::integer * interval '24 hours'
    and x.created_at >= $4
    and x.created_at < $5
    and (x.created_at, x.seq) < ($6, $7)
    and ($8::text is null or x.canvas_session_id is distinct from $8)
    and ($9::text[] is null or x.channel_kind = any($9))
    and x.origin_user_id <> all(g.ids)
    order by x.created_at desc, x.seq desc
    limit $10 + 1
) m on true
where t.tenant_id = $1
order by m.created_at desc, m.seq desc
