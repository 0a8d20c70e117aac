-- resolve
select
    coalesce(u.merged_into, u.user_id) as user_id,
    i.display_name,
    i.email,
    i.email_verified,
    i.last_seen_at
from platform_identities i
join users u on u.tenant_id = i.tenant_id and u.user_id = i.user_id
where i.tenant_id = $1
and i.kind = $2
and i.channel_id = $3
