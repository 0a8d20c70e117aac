-- The log of finished turns, the watermark of a cleared scope, and the keys that must not come back.

-- No foreign key to users: a stale user id reads as empty (R-068), and append asks the user's row.
create table cross_channel_messages (
    tenant_id text collate "C" not null,
    id uuid not null,
    -- The tenant's commit order: taken from tenant_streams in the appending transaction.
    seq bigint not null,
    user_id uuid not null,
    -- Whom the turn was stored for at first; a merge changes user_id only, so that it can be undone.
    origin_user_id uuid not null,
    client_message_id text collate "C" not null,
    request_digest bytea not null check (octet_length(request_digest) = 32),
    channel_kind text collate "C" not null,
    channel_scope text collate "C" not null,
    canvas_session_id text collate "C",
    user_message text not null,
    assistant_answer text not null,
    user_message_bytes integer not null check (user_message_bytes >= 0),
    assistant_bytes integer not null check (assistant_bytes >= 0),
    aux_bytes integer not null check (aux_bytes >= 0),
    -- json, not jsonb: the canonical text comes back byte for byte (docs/adr/0004).
    tool_calls json,
    metadata json not null,
    redaction_state text collate "C" not null check (
        redaction_state in ('pending', 'clean', 'redacted')
    ),
    redaction_metadata json,
    -- Which version of the detector looked; null while nobody has.
    detector_version integer,
    content_form text collate "C" not null check (content_form in ('raw', 'masked')),
    created_at timestamptz not null,
    ingested_at timestamptz not null,
    expires_at timestamptz not null,
    primary key (tenant_id, id)
);

-- Idempotency (R-063), and append's look-up by key.
create unique index cross_channel_messages_key
on cross_channel_messages (tenant_id, client_message_id);

-- recent
create index cross_channel_messages_user
on cross_channel_messages (tenant_id, user_id, created_at desc, seq desc);

-- history
create index cross_channel_messages_scope
on cross_channel_messages (tenant_id, channel_kind, channel_scope, created_at desc, seq desc);

-- recent counts what it leaves out (T-07); empty where redaction is done before the insert.
create index cross_channel_messages_pending
on cross_channel_messages (tenant_id, user_id, created_at desc, seq desc)
where redaction_state = 'pending';

-- History of a scope starts after cleared_seq. By seq, not by time: a turn stored after the clear
-- may carry an earlier created_at.
create table conversations (
    tenant_id text collate "C" not null,
    channel_kind text collate "C" not null,
    channel_scope text collate "C" not null,
    cleared_seq bigint not null check (cleared_seq >= 0),
    cleared_at timestamptz not null,
    primary key (tenant_id, channel_kind, channel_scope)
);

-- Keys of deleted turns, without their content: a late retry is refused (T-57).
create table idempotency_tombstones (
    tenant_id text collate "C" not null,
    client_message_id text collate "C" not null,
    reason text collate "C" not null,
    until timestamptz not null,
    primary key (tenant_id, client_message_id)
);

do $$
begin
    if exists (select from pg_extension where extname = 'citus') then
        perform create_distributed_table(
            'cross_channel_messages', 'tenant_id', colocate_with => 'tenants'
        );
        perform create_distributed_table('conversations', 'tenant_id', colocate_with => 'tenants');
        perform create_distributed_table(
            'idempotency_tombstones', 'tenant_id', colocate_with => 'tenants'
        );
    end if;
end
$$;
