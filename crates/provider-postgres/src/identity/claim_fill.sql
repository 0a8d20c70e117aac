-- claim_fill
insert into email_claims (
    tenant_id, email_normalized, normalizer, user_id, state, verified_at, last_confirmed_at
)
select t.tenant_id, n.email, $3, n.user_id, 'live', n.seen_at, n.seen_at
from tenants t
cross join unnest($2::text[], $4::uuid[], $5::timestamptz[]) as n (email, user_id, seen_at)
where t.tenant_id = $1
order by n.email
on conflict (tenant_id, email_normalized) do nothing
