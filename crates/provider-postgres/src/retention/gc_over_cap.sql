-- gc_over_cap
-- A stretch of people in id order, and those of them over a cap. At least one row, which says how far
-- the look went.
with looked as materialized (
    select u.user_id, u.turn_count, u.byte_count
    from users u
    where u.tenant_id = $1
    and u.user_id > $2
    order by u.user_id
    limit $5
)
select
    exists (select from tenants t where t.tenant_id = $1) as known,
    s.people,
    s.last,
    l.user_id,
    l.turn_count,
    l.byte_count
from (
    select
        (select count(*) from looked) as people,
        (select x.user_id from looked x order by x.user_id desc limit 1) as last
) s
left join looked l on l.turn_count > $3 or l.byte_count > $4
order by l.user_id
