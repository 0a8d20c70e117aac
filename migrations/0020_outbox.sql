-- Appends that the store could not take when they came, and dead letters.

create table ccm_outbox (
    tenant_id text collate "C" not null,
    id uuid not null,
    kind text collate "C" not null check (kind in ('append_turn')),
    client_message_id text collate "C" not null,
    request_digest bytea not null check (octet_length(request_digest) = 32),
    -- The user, or the channel user who is resolved when the append is made: an erasure finds either.
    user_id uuid,
    ref_kind text collate "C",
    ref_id text collate "C",
    -- json, not jsonb: the document comes back byte for byte.
    payload json not null,
    state text collate "C" not null check (state in ('pending', 'dlq')),
    attempts integer not null check (attempts >= 0),
    last_error text,
    last_attempt_at timestamptz,
    next_attempt_at timestamptz not null,
    lease_owner uuid,
    lease_until timestamptz,
    created_at timestamptz not null,
    died_at timestamptz,
    primary key (tenant_id, id),
    foreign key (tenant_id) references tenants (tenant_id),
    check ((user_id is null) = (ref_id is not null)),
    check ((ref_kind is null) = (ref_id is null)),
    check ((lease_owner is null) = (lease_until is null)),
    check ((state = 'dlq') = (died_at is not null))
);

-- Idempotency (T-18), and outbox_find.
create unique index ccm_outbox_key on ccm_outbox (tenant_id, kind, client_message_id);

-- outbox_lease and outbox_due: empty while nothing waits.
create index ccm_outbox_due on ccm_outbox (tenant_id, next_attempt_at) where state = 'pending';

-- outbox_dead and outbox_expire.
create index ccm_outbox_dead on ccm_outbox (tenant_id, died_at) where state = 'dlq';

-- outbox_forget
create index ccm_outbox_user on ccm_outbox (tenant_id, user_id) where user_id is not null;
create index ccm_outbox_ref on ccm_outbox (tenant_id, ref_kind, ref_id) where ref_id is not null;

do $$
begin
    if exists (select from pg_extension where extname = 'citus') then
        perform create_distributed_table('ccm_outbox', 'tenant_id', colocate_with => 'tenants');
    end if;
end
$$;
