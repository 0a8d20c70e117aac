-- gc_tombstones
with deleted as (
    delete from idempotency_tombstones d
    where d.tenant_id = $1
    and d.key_digest = any(array(
        select x.key_digest
        from idempotency_tombstones x
        where x.tenant_id = $1
        and x.until <= $2
        order by x.until
        limit $3
        for update skip locked
    ))
    and d.until <= $2
    returning d.key_digest
)
select
    exists (select from tenants t where t.tenant_id = $1) as known,
    count(*) as seen,
    count(*) as swept,
    0::bigint as bytes
from deleted
