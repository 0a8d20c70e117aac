-- Deleting by rule: what the sweep looks through, and what jobs of several replicas agree on: who does
-- what for whom, where to go on, how far a changed retention was carried through.

-- The tables are of the same release, so they are empty or small: no index is built beside traffic.

-- the sweep of ended turns, tenant by tenant (R-064, R-143), and how long the oldest has waited
create index cross_channel_messages_end on cross_channel_messages (tenant_id, expires_at);

-- the sweep of tombstones that no retry can meet any more
create index idempotency_tombstones_end on idempotency_tombstones (tenant_id, until);

create table job_leases (
    tenant_id text collate "C" not null,
    job text collate "C" not null,
    owner uuid not null,
    until timestamptz not null,
    finished_at timestamptz,
    primary key (tenant_id, job),
    foreign key (tenant_id) references tenants (tenant_id)
) with (fillfactor = 50);

-- The service's own: one row a job, whatever the tenants. Never distributed.
create table job_cursors (
    job text collate "C" not null,
    last_tenant text collate "C" not null,
    primary key (job)
) with (fillfactor = 50);

-- One walk over a tenant's turns for each rule; looked_at is the last turn that was looked at.
create table restamps (
    tenant_id text collate "C" not null,
    ttl_seconds bigint not null check (ttl_seconds > 0),
    extend boolean not null,
    looked_at uuid not null,
    finished boolean not null,
    primary key (tenant_id),
    foreign key (tenant_id) references tenants (tenant_id)
);

do $$
begin
    if exists (select from pg_extension where extname = 'citus') then
        perform create_distributed_table('job_leases', 'tenant_id', colocate_with => 'tenants');
        perform create_distributed_table('restamps', 'tenant_id', colocate_with => 'tenants');
    end if;
end
$$;
