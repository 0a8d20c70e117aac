-- outbox_settle
-- Only what the worker still holds. A row without a new state goes.
with given as (
    select g.id, g.attempts, g.state, g.next_attempt_at, g.last_error
    from unnest($3::uuid[], $4::integer[], $5::text[], $6::timestamptz[], $7::text[])
    as g (id, attempts, state, next_attempt_at, last_error)
),
done as (
    delete from ccm_outbox o
    using given g
    where o.tenant_id = $1
    and o.id = g.id
    and o.lease_owner = $2
    and o.state = 'pending'
    and g.state is null
    returning o.id
),
moved as (
    update ccm_outbox o
    set state = g.state,
        attempts = g.attempts,
        next_attempt_at = g.next_attempt_at,
        last_error = coalesce(g.last_error, o.last_error),
        last_attempt_at = case when g.last_error is null then o.last_attempt_at else $8 end,
        died_at = case when g.state = 'dlq' then $8 end,
        lease_owner = null,
        lease_until = null
    from given g
    where o.tenant_id = $1
    and o.id = g.id
    and o.lease_owner = $2
    and o.state = 'pending'
    and g.state is not null
    returning o.state
)
select
    (select count(*) from done) as done,
    (select count(*) from moved where state = 'pending') as waiting,
    (select count(*) from moved where state = 'dlq') as died
