-- One person behind several channel users: claims on e-mail addresses, merges that can be undone,
-- questions to operators, and the audit trail of all that.

-- Apart from the identities: two of them may well have one address, a claim has one holder.
create table email_claims (
    tenant_id text collate "C" not null,
    email_normalized text collate "C" not null,
    -- Which rules wrote email_normalized; the identity keeps the address as it was given.
    normalizer smallint not null check (normalizer >= 1),
    -- The account that verified it, never a survivor: a merge and its undo leave claims alone.
    user_id uuid not null,
    state text collate "C" not null check (state in ('live', 'lapsed', 'revoked')),
    verified_at timestamptz not null,
    last_confirmed_at timestamptz not null,
    primary key (tenant_id, email_normalized)
);

-- erase, and the lapse of a claim whose account reports another address
create index email_claims_user on email_claims (tenant_id, user_id);

-- A standing merge is an edge from the merged person to the survivor. users.merged_into holds the end
-- of the chain, this table its links: undoing a link leaves all others as they are.
create table merges (
    tenant_id text collate "C" not null,
    merge_id uuid not null,
    primary_user_id uuid not null,
    secondary_user_id uuid not null,
    source text collate "C" not null check (source in ('manual', 'system', 'auto-email')),
    actor text not null,
    merged_identities bigint not null check (merged_identities >= 0),
    moved_turns bigint not null check (moved_turns >= 0),
    created_at timestamptz not null,
    undone_at timestamptz,
    undone_by text,
    primary key (tenant_id, merge_id),
    check ((undone_at is null) = (undone_by is null)),
    check (primary_user_id <> secondary_user_id)
);

-- Whoever is merged away is so once: chains, never circles or forks.
create unique index merges_standing
on merges (tenant_id, secondary_user_id) where undone_at is null;

-- undo_merge walks from a person to those merged into them; erase and merges find both sides.
create index merges_primary on merges (tenant_id, primary_user_id);
create index merges_secondary on merges (tenant_id, secondary_user_id);

create table reviews (
    tenant_id text collate "C" not null,
    review_id uuid not null,
    reason text collate "C" not null check (
        reason in ('lapsed_claim', 'same_kind', 'contested_claim', 'collision', 'proposal')
    ),
    state text collate "C" not null check (state in ('open', 'accepted', 'declined')),
    primary_user_id uuid not null,
    secondary_user_id uuid not null,
    proposed_by text,
    created_at timestamptz not null,
    decided_at timestamptz,
    decided_by text,
    decision_reason text,
    merge_id uuid,
    primary key (tenant_id, review_id),
    check ((state = 'open') = (decided_at is null)),
    check ((decided_at is null) = (decided_by is null)),
    check ((decided_at is null) = (decision_reason is null))
);

-- One question is asked once until it is answered.
create unique index reviews_open
on reviews (tenant_id, primary_user_id, secondary_user_id, reason) where state = 'open';

-- erase, and whether an address raised this question before
create index reviews_primary on reviews (tenant_id, primary_user_id);
create index reviews_secondary on reviews (tenant_id, secondary_user_id);

-- R-110, and undo_merge. Never content; ids go when the person is erased.
create table ccm_audit_events (
    tenant_id text collate "C" not null,
    id uuid not null,
    actor text not null,
    op text collate "C" not null check (
        op in ('read_raw', 'forget_user', 'merge_identities', 'undo_merge')
    ),
    target_id uuid,
    user_id uuid,
    detail jsonb not null,
    created_at timestamptz not null,
    primary key (tenant_id, id)
);

-- the retention sweep
create index ccm_audit_events_created on ccm_audit_events (tenant_id, created_at desc);
-- erase, on both sides (T-36)
create index ccm_audit_events_user
on ccm_audit_events (tenant_id, user_id, created_at desc) where user_id is not null;
create index ccm_audit_events_target
on ccm_audit_events (tenant_id, target_id) where target_id is not null;

-- A caller's key can name a person (a phone number, a chat), so a tombstone keeps its SHA-256 only.
-- Nothing wrote the table before this file.
drop table idempotency_tombstones;
create table idempotency_tombstones (
    tenant_id text collate "C" not null,
    key_digest bytea not null check (octet_length(key_digest) = 32),
    reason text collate "C" not null,
    until timestamptz not null,
    primary key (tenant_id, key_digest)
);

do $$
begin
    if exists (select from pg_extension where extname = 'citus') then
        perform create_distributed_table('email_claims', 'tenant_id', colocate_with => 'tenants');
        perform create_distributed_table('merges', 'tenant_id', colocate_with => 'tenants');
        perform create_distributed_table('reviews', 'tenant_id', colocate_with => 'tenants');
        perform create_distributed_table('ccm_audit_events', 'tenant_id', colocate_with => 'tenants');
        perform create_distributed_table(
            'idempotency_tombstones', 'tenant_id', colocate_with => 'tenants'
        );
    end if;
end
$$;
