-- erase_identities
with claims as (
    delete from email_claims
    where tenant_id = $1
    and user_id = any($2)
    returning 1
),
identities as (
    delete from platform_identities
    where tenant_id = $1
    and user_id = any($2)
    returning 1
),
joined as (
    delete from merges
    where tenant_id = $1
    and (primary_user_id = any($2) or secondary_user_id = any($2))
    returning 1
)
select
    (select count(*) from claims) as claims,
    (select count(*) from identities) as identities,
    (select count(*) from joined) as merges
