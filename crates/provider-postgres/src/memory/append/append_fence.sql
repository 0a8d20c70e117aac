-- append_fence
-- What rows stored at once need to hold: their users, which a merge, its undo or an erasure takes for
-- update, and their tenants' counters, bumped once for the whole batch. Users first and each in sorted
-- order, as everybody who takes several. What they say is read by the next statement, which sees them
-- as they stay until the commit. A user who is held for long is not waited for (the transaction's
-- lock_timeout): the others of the batch would wait along.
with fenced as materialized (
    select from unnest($1::text[], $2::uuid[]) as k (tenant_id, user_id)
    join users u on u.tenant_id = k.tenant_id and u.user_id = k.user_id
    order by u.tenant_id, u.user_id
    for no key update of u
)
update tenant_streams s
set seq = s.seq + k.turns
from (
    select l.tenant_id, n.turns
    from unnest($3::text[], $4::bigint[]) as n (tenant_id, turns)
    join tenant_streams l on l.tenant_id = n.tenant_id
    where (select count(*) from fenced) >= 0
    order by l.tenant_id
    for no key update of l
) k
where s.tenant_id = k.tenant_id
