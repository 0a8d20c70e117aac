-- redaction_redacted
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
    coalesce(x.redaction_failures, 0)::bigint as failures
from cross_channel_messages x
where x.tenant_id = $1
and x.id > $2
and x.redaction_state = 'redacted'
and x.content_form = 'raw'
order by x.id
limit $3
