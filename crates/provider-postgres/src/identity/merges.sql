-- merges
select
    p.root is not null as known,
    m.merge_id,
    m.primary_user_id,
    m.secondary_user_id,
    m.source,
    m.actor,
    m.created_at,
    m.undone_at
from tenants t
left join lateral (
    select coalesce(u.merged_into, u.user_id) as root
    from users u
    where u.tenant_id = $1
    and u.user_id = $2
    and u.status <> 'forgotten'
) p on true
left join lateral (
    select x.merge_id, x.primary_user_id, x.secondary_user_id, x.source, x.actor, x.created_at, x.undone_at
    from merges x
    where x.tenant_id = $1
    and exists (
        select
        from users a
        where a.tenant_id = $1
        and (a.user_id = p.root or a.merged_into = p.root)
        and a.user_id in (x.primary_user_id, x.secondary_user_id)
    )
) m on true
where t.tenant_id = $1
order by m.created_at, m.merge_id
