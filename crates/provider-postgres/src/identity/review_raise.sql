-- review_raise
insert into reviews (
    tenant_id, review_id, reason, state, primary_user_id, secondary_user_id, created_at
)
select $1, $2, $3, 'open', $4, $5, $6
where not exists (
    select
    from reviews r
    where r.tenant_id = $1
    and r.primary_user_id = $4
    and r.secondary_user_id = $5
    and r.reason = $3
)
on conflict do nothing
