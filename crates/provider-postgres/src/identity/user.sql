-- user
select
    u.user_id,
    u.status,
    array(
        select m.user_id
        from users m
        where m.tenant_id = u.tenant_id
        and m.merged_into = u.user_id
        order by m.user_id
    ) as merged_user_ids,
    i.kind,
    i.channel_id,
    i.display_name,
    i.email,
    i.email_verified,
    coalesce(i.shared, false) as shared,
    i.first_seen_at,
    i.last_seen_at,
    i.claim_source
from tenants t
left join users asked on asked.tenant_id = t.tenant_id and asked.user_id = $2
left join users u
on u.tenant_id = asked.tenant_id and u.user_id = coalesce(asked.merged_into, asked.user_id)
left join users a
on a.tenant_id = u.tenant_id and (a.user_id = u.user_id or a.merged_into = u.user_id)
left join platform_identities i on i.tenant_id = a.tenant_id and i.user_id = a.user_id
where t.tenant_id = $1
