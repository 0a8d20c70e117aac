-- append_lock
-- The fence: a merge, its undo or an erasure takes these rows for update. Each given account and its
-- survivor, so that both are as they are now and stay so. In sorted order, as everybody who takes
-- several, so that two batches never wait for each other in a circle.
select
    u.tenant_id,
    u.user_id,
    u.status,
    u.merged_into,
    u.turn_count,
    u.byte_count
from unnest($1::text[], $2::uuid[]) as k (tenant_id, user_id)
join users a on a.tenant_id = k.tenant_id and a.user_id = k.user_id
join users u on u.tenant_id = a.tenant_id and u.user_id in (a.user_id, a.merged_into)
order by u.tenant_id, u.user_id
for no key update of u
