-- outbox_expire
with old as materialized (
    select w.id
    from ccm_outbox w
    where w.tenant_id = $1
    and w.state = 'dlq'
    and w.died_at < $2
    order by w.died_at, w.id
    limit $3
    for update skip locked
),
gone as (
    delete from ccm_outbox o
    using old
    where o.tenant_id = $1
    and o.id = old.id
    returning o.id
)
select count(*) as entries
from gone
