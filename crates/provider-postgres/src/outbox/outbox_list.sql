-- outbox_list
-- One row for a tenant without entries, so that it is told from one that is not there.
select
    o.id, o.client_message_id, o.user_id, o.state, o.attempts, o.last_error, o.created_at,
    o.last_attempt_at, o.next_attempt_at, o.died_at
from tenants t
left join lateral (
    select
        e.id, e.client_message_id, e.user_id, e.state, e.attempts, e.last_error, e.created_at,
        e.last_attempt_at, e.next_attempt_at, e.died_at
    from ccm_outbox e
    where e.tenant_id = t.tenant_id
    and e.state = $2
    and e.id > $3
    order by e.id
    limit $4
) o on true
where t.tenant_id = $1
order by o.id
