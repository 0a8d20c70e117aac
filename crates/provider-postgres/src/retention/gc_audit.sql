-- gc_audit
-- By the entry's own age (T-67). Rows that an erasure is at work on are left to the next sweep.
with deleted as (
    delete from ccm_audit_events a
    where a.tenant_id = $1
    and a.id = any(array(
        select x.id
        from ccm_audit_events x
        where x.tenant_id = $1
        and x.created_at < $2
        order by x.created_at
        limit $3
        for update skip locked
    ))
    returning a.id
)
select
    exists (select from tenants t where t.tenant_id = $1) as known,
    count(*) as seen,
    count(*) as swept,
    0::bigint as bytes
from deleted
