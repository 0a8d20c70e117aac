-- history
select m.*
from tenants t
left join conversations c
on c.tenant_id = t.tenant_id and c.channel_kind = $2 and c.channel_scope = $3
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
    and x.channel_kind = $2
    and x.channel_scope = $3
    and x.seq > coalesce(c.cleared_seq, 0)
    and x.redaction_state <> 'pending'
    and x.expires_at > $4
    and x.created_at > $4 - (t.config ->> 'ttl_days')::integer * interval '24 hours'
    order by x.created_at desc, x.seq desc
    limit $5
) m on true
where t.tenant_id = $1
order by m.created_at desc, m.seq desc
