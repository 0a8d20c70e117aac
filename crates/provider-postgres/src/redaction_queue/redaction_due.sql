-- redaction_due
-- Never scanned turns first, oldest first, then those that an older version looked at.
select
    m.*
from (
    (
        select
            0 as turn_order,
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
            coalesce(x.redaction_failures, 0)::bigint as failures
        from cross_channel_messages x
        where x.tenant_id = $1
        and x.redaction_state = 'pending'
        and x.id <> all($4)
        order by x.id
        limit $3
    )
    union all
    (
        select
            1 as turn_order,
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
            coalesce(x.redaction_failures, 0)::bigint as failures
        from cross_channel_messages x
        where x.tenant_id = $1
        and x.redaction_state <> 'pending'
        and x.content_form = 'raw'
        and x.detector_version < $2
        and x.id <> all($4)
        order by x.detector_version
        limit $3
    )
) m
order by m.turn_order
limit $3
