-- read_version
-- As recent says it, without a turn.
select
    coalesce(u.merged_into, u.user_id) as whose,
    case when u.merged_into is null then u.version else (
        select r.version
        from users r
        where r.tenant_id = $1
        and r.user_id = u.merged_into
    ) end as changes,
    t.config_revision
from tenants t
join users u on u.tenant_id = t.tenant_id and u.user_id = $2
where t.tenant_id = $1
