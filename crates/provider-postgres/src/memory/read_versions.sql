-- read_versions
-- As read_version says it, of many at once; somebody unknown has no row. Each look-up is lateral: its
-- index does not depend on what the planner knows of the tables.
select
    k.place,
    coalesce(u.merged_into, k.user_id) as whose,
    case when u.merged_into is null then u.version else (
        select r.version
        from users r
        where r.tenant_id = k.tenant_id
        and r.user_id = u.merged_into
    ) end as changes,
    t.config_revision
from unnest($1::text[], $2::uuid[]) with ordinality as k (tenant_id, user_id, place)
cross join lateral (
    select x.config_revision from tenants x where x.tenant_id = k.tenant_id offset 0
) t
cross join lateral (
    select p.version, p.merged_into
    from users p
    where p.tenant_id = k.tenant_id
    and p.user_id = k.user_id
    offset 0
) u
