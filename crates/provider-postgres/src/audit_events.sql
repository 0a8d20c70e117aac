-- audit_events
select
    e.id,
    e.actor,
    e.op,
    e.target_id,
    e.user_id,
    e.detail,
    e.created_at
from tenants t
left join lateral (
    select x.id, x.actor, x.op, x.target_id, x.user_id, x.detail::text as detail, x.created_at
    from ccm_audit_events x
    where x.tenant_id = $1
    and x.id < $2
    and ($4::text is null or x.op = $4)
    and ($5::timestamptz is null or x.created_at >= $5)
    and ($6::timestamptz is null or x.created_at < $6)
    order by x.id desc
    limit $3
) e on true
where t.tenant_id = $1
order by e.id desc
