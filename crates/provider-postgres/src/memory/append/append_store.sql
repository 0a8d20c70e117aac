-- append_store
-- The counters move by what was really inserted (T-58). No "on conflict": append_find looked under the
-- lock that every append of these tenants takes, and looking twice costs a fifth of the insert
-- (docs/adr/0041). A key that is there nevertheless fails the statement, and the append begins again.
with stored as (
    insert into cross_channel_messages (
        tenant_id, id, seq, user_id, origin_user_id, client_message_id, request_digest,
        channel_kind, channel_scope, canvas_session_id, user_message, assistant_answer,
        user_message_bytes, assistant_bytes, aux_bytes, tool_calls, metadata, redaction_state,
        redaction_metadata, detector_version, content_form, created_at, ingested_at, expires_at
    )
    select
        n.tenant_id, n.id, n.seq, n.user_id, n.origin_user_id, n.client_message_id, n.request_digest,
        n.channel_kind, n.channel_scope, n.canvas_session_id, n.user_message, n.assistant_answer,
        n.user_message_bytes, n.assistant_bytes, n.aux_bytes, n.tool_calls::json,
        n.metadata::json, n.redaction_state, n.redaction_metadata::json, n.detector_version,
        n.content_form, n.created_at, $21, n.expires_at
    from unnest(
        $1::text[], $2::uuid[], $3::uuid[], $4::text[], $5::bytea[], $6::text[], $7::text[],
        $8::text[], $9::text[], $10::text[], $11::integer[], $12::integer[], $13::integer[],
        $14::text[], $15::text[], $16::text[], $17::text[], $18::integer[], $19::text[],
        $20::timestamptz[], $22::bigint[], $23::uuid[], $24::timestamptz[]
    ) as n (
        tenant_id, id, user_id, client_message_id, request_digest, channel_kind, channel_scope,
        canvas_session_id, user_message, assistant_answer, user_message_bytes, assistant_bytes,
        aux_bytes, tool_calls, metadata, redaction_state, redaction_metadata, detector_version,
        content_form, created_at, seq, origin_user_id, expires_at
    )
    order by n.tenant_id, n.client_message_id
    returning tenant_id, id, user_id, user_message_bytes::bigint + assistant_bytes + aux_bytes as bytes
),
counted as (
    update users u
    set turn_count = u.turn_count + s.turns,
        byte_count = u.byte_count + s.bytes,
        version = u.version + 1,
        updated_at = $21
    from (
        select tenant_id, user_id, count(*) as turns, sum(bytes)::bigint as bytes
        from stored
        group by tenant_id, user_id
        order by tenant_id, user_id
    ) s
    where u.tenant_id = s.tenant_id
    and u.user_id = s.user_id
)
select tenant_id, id
from stored
