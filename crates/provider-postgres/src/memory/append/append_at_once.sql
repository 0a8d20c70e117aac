-- append_at_once
-- Stores the rows about which there is nothing to decide: the tenant exists, the user is active and not
-- far over a cap, the key is new. The others are left out, and looked at one by one afterwards. Sent after
-- append_fence, so it sees users and counters as they stay until the commit. Each look-up is lateral: its
-- index does not depend on what the planner knows of a table that has just been created. For the same
-- reason the key is left to the index that the conflict names (docs/adr/0044).
with stored as (
    insert into cross_channel_messages (
        tenant_id, id, seq, user_id, origin_user_id, client_message_id, request_digest,
        channel_kind, channel_scope, canvas_session_id, user_message, assistant_answer,
        user_message_bytes, assistant_bytes, aux_bytes, tool_calls, metadata, redaction_state,
        redaction_metadata, detector_version, content_form, created_at, ingested_at, expires_at
    )
    select
        n.tenant_id, n.id, s.seq - n.behind, n.user_id, n.user_id, n.client_message_id, n.request_digest,
        n.channel_kind, n.channel_scope, n.canvas_session_id, n.user_message, n.assistant_answer,
        n.user_message_bytes, n.assistant_bytes, n.aux_bytes, n.tool_calls::json,
        n.metadata::json, n.redaction_state, n.redaction_metadata::json, n.detector_version,
        n.content_form, n.created_at, $21,
        n.created_at + (t.config ->> 'ttl_days')::integer * interval '24 hours'
    from unnest(
        $1::text[], $2::uuid[], $3::uuid[], $4::text[], $5::bytea[], $6::text[], $7::text[],
        $8::text[], $9::text[], $10::text[], $11::integer[], $12::integer[], $13::integer[],
        $14::text[], $15::text[], $16::text[], $17::text[], $18::integer[], $19::text[],
        $20::timestamptz[], $22::bigint[], $23::bigint[], $24::bigint[]
    ) as n (
        tenant_id, id, user_id, client_message_id, request_digest, channel_kind, channel_scope,
        canvas_session_id, user_message, assistant_answer, user_message_bytes, assistant_bytes,
        aux_bytes, tool_calls, metadata, redaction_state, redaction_metadata, detector_version,
        content_form, created_at, behind, user_turns, user_bytes
    )
    cross join lateral (
        select x.seq from tenant_streams x where x.tenant_id = n.tenant_id offset 0
    ) s
    cross join lateral (
        select x.config from tenants x where x.tenant_id = n.tenant_id offset 0
    ) t
    cross join lateral (
        select x.status, x.turn_count, x.byte_count
        from users x
        where x.tenant_id = n.tenant_id
        and x.user_id = n.user_id
        offset 0
    ) u
    left join lateral (
        select x.until
        from idempotency_tombstones x
        where x.tenant_id = n.tenant_id
        and x.key_digest = sha256(convert_to(n.tenant_id || ':' || n.client_message_id, 'UTF8'))
        offset 0
    ) d on d.until > $21
    where u.status = 'active'
    -- Nobody comes to stand a twentieth over a cap (T-70).
    and (u.turn_count + n.user_turns) * 20::numeric
        <= coalesce((t.config ->> 'turn_cap')::bigint, $25) * 21::numeric
    and (u.byte_count + n.user_bytes) * 20::numeric
        <= coalesce((t.config ->> 'byte_cap')::bigint, $26) * 21::numeric
    and d.until is null
    order by n.tenant_id, n.client_message_id
    on conflict (tenant_id, client_message_id) do nothing
    returning tenant_id, id, seq, user_id, user_message_bytes::bigint + assistant_bytes + aux_bytes as bytes
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
select id, seq
from stored
