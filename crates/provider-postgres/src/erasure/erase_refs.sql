-- erase_refs
-- Only digests, so that what waited somewhere else under one of them is refused for a while (T-37).
insert into erased_refs (tenant_id, ref_digest, erased_at, until)
select t.tenant_id, r.digest, $3, $4
from tenants t
cross join unnest($2::bytea[]) as r (digest)
where t.tenant_id = $1
on conflict (tenant_id, ref_digest) do update
set erased_at = greatest(erased_refs.erased_at, excluded.erased_at),
    until = greatest(erased_refs.until, excluded.until)
returning until
