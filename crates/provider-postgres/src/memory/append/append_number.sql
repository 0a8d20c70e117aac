-- append_number
-- One bump a tenant for the whole batch, rows locked in sorted order by the subselect. The lock
-- stays until the commit: whoever comes next sees what this batch stored. Rules written before there
-- were caps have none: their defaults are the rules' own.
update tenant_streams s
set seq = s.seq + k.turns
from (
    select
        l.tenant_id,
        n.turns,
        t.config::text as config
    from unnest($1::text[], $2::bigint[]) as n (tenant_id, turns)
    join tenant_streams l on l.tenant_id = n.tenant_id
    join tenants t on t.tenant_id = l.tenant_id
    order by l.tenant_id
    for no key update of l
) k
where s.tenant_id = k.tenant_id
returning s.tenant_id, s.seq, k.config
