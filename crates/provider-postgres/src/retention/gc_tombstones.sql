-- gc_tombstones
-- Of keys and of channel users, as many of each as fit.
with keys as (
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
),
refs as (
    delete from erased_refs d
    where d.tenant_id = $1
    and d.ref_digest = any(array(
        select x.ref_digest
        from erased_refs x
        where x.tenant_id = $1
        and x.until <= $2
        order by x.until
        limit $3
        for update skip locked
    ))
    and d.until <= $2
    returning d.ref_digest
)
select
    exists (select from tenants t where t.tenant_id = $1) as known,
    greatest((select count(*) from keys), (select count(*) from refs)) as seen,
    (select count(*) from keys) + (select count(*) from refs) as swept,
    0::bigint as bytes
