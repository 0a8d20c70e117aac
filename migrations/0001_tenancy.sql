-- Tenants with their rules, the counter that numbers their turns, and access keys.
-- What every migration keeps to stands in README.md of this directory.

create table tenants (
    tenant_id text collate "C" not null,
    status text collate "C" not null check (status in ('active', 'suspended')),
    -- The reads compute with ttl_days, so a row without it must not exist.
    config jsonb not null check (
        config ? 'ttl_days' and (config ->> 'ttl_days')::integer between 1 and 3650
    ),
    config_revision bigint not null check (config_revision >= 1),
    erasure_epoch bigint not null check (erasure_epoch >= 0),
    created_at timestamptz not null,
    primary key (tenant_id)
);

-- One row a tenant, updated by every append: kept apart from tenants, which every read joins, and
-- half empty so that an update finds room on its page.
create table tenant_streams (
    tenant_id text collate "C" not null,
    seq bigint not null check (seq >= 0),
    primary key (tenant_id),
    foreign key (tenant_id) references tenants (tenant_id)
) with (fillfactor = 50);

create table access_keys (
    tenant_id text collate "C" not null,
    key_id uuid not null,
    label text not null,
    scopes text[] not null,
    key_hash bytea not null check (octet_length(key_hash) = 32),
    created_at timestamptz not null,
    revoked_at timestamptz,
    primary key (tenant_id, key_id),
    foreign key (tenant_id) references tenants (tenant_id)
);

-- Operators stand above the tenants: no tenant column, never distributed.
create table operator_keys (
    key_id uuid not null,
    actor text not null,
    label text not null,
    key_hash bytea not null check (octet_length(key_hash) = 32),
    created_at timestamptz not null,
    revoked_at timestamptz,
    primary key (key_id)
);

do $$
begin
    if exists (select from pg_extension where extname = 'citus') then
        perform create_distributed_table('tenants', 'tenant_id');
        perform create_distributed_table('tenant_streams', 'tenant_id', colocate_with => 'tenants');
        perform create_distributed_table('access_keys', 'tenant_id', colocate_with => 'tenants');
    end if;
end
$$;
