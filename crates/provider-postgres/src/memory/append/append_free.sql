-- append_free
-- Who of these users is held by nobody at this moment. The locks end with the statement.
select u.tenant_id, u.user_id
from unnest($1::text[], $2::uuid[]) as k (tenant_id, user_id)
join users u on u.tenant_id = k.tenant_id and u.user_id = k.user_id
order by u.tenant_id, u.user_id
for no key update of u skip locked
