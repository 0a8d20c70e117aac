-- Channel users of erased people, as digests: what waited for one of them, on a disk that an erasure
-- does not reach, is refused when it comes at last.

create table erased_refs (
    tenant_id text collate "C" not null,
    -- SHA-256 of a fixed word, the tenant, the kind and the channel's id.
    ref_digest bytea not null check (octet_length(ref_digest) = 32),
    erased_at timestamptz not null,
    until timestamptz not null,
    primary key (tenant_id, ref_digest)
);

-- gc_tombstones
create index erased_refs_end on erased_refs (tenant_id, until);

do $$
begin
    if exists (select from pg_extension where extname = 'citus') then
        perform create_distributed_table('erased_refs', 'tenant_id', colocate_with => 'tenants');
    end if;
end
$$;
