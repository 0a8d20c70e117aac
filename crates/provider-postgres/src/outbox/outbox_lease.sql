-- outbox_lease
-- Oldest first; what another worker is taking at this moment is passed over. Materialized: a subselect
-- in a join may be run again for each row, and then takes more than its limit.
with due as materialized (
    select w.id
    from ccm_outbox w
    where w.tenant_id = $1
    and w.state = 'pending'
    and w.next_attempt_at <= $2
    and (w.lease_until is null or w.lease_until <= $2)
    order by w.next_attempt_at, w.id
    limit $3
    for update skip locked
)
update ccm_outbox o
set lease_owner = $4, lease_until = $5
from due
where o.tenant_id = $1
and o.id = due.id
returning o.id, o.attempts, o.created_at, o.payload::text as payload
