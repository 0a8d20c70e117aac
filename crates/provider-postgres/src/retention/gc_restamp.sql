-- gc_restamp
-- A stretch of turns in id order; those whose end is not what the rule says get it. People are locked
-- first, as everywhere. `wrong` without `moved` is a turn that somebody moved in between: look again.
-- "is true" keeps the planner from joining turns with people, which it takes to be ten: each turn was compared
-- with every person. As a condition it is a look into a hash.
with looked as materialized (
    select m.ctid as place, m.id, m.user_id, m.created_at, m.expires_at
    from cross_channel_messages m
    where m.tenant_id = $1
    and m.id > $4
    order by m.id
    limit $3
),
wrong as materialized (
    select l.place, l.user_id
    from looked l
    where l.expires_at > l.created_at + $5 * interval '1 second'
    or (
        $6
        and l.expires_at < l.created_at + $5 * interval '1 second'
        and l.expires_at > $2
    )
),
people as materialized (
    select array_agg(k.user_id) as ids
    from (
        select u.user_id
        from users u
        where u.tenant_id = $1
        and u.user_id in (select w.user_id from wrong w)
        order by u.user_id
        for no key update of u
    ) k
),
moved as (
    update cross_channel_messages m
    set expires_at = m.created_at + $5 * interval '1 second'
    where m.tenant_id = $1
    and m.ctid = any(array(select w.place from wrong w))
    and (m.user_id in (select unnest(p.ids) from people p)) is true
    returning m.user_id
),
raised as (
    update users u
    set version = u.version + 1
    where u.tenant_id = $1
    and u.user_id in (select v.user_id from moved v)
)
select
    exists (select from tenants t where t.tenant_id = $1) as known,
    (select count(*) from looked) as looked,
    (select count(*) from wrong) as wrong,
    count(*) as moved,
    (select l.id from looked l order by l.id desc limit 1) as last
from moved
