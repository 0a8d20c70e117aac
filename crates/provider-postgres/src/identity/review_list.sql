-- review_list
-- One row for a tenant that exists, so that "nothing to decide" and "no such tenant" differ.
select r.*
from tenants t
left join lateral (
    select
        x.review_id,
        x.reason,
        x.state,
        x.primary_user_id,
        x.secondary_user_id,
        x.proposed_by,
        x.created_at,
        x.decided_at,
        x.decided_by,
        x.decision_reason,
        x.merge_id
    from reviews x
    where x.tenant_id = $1
    and ($2::text is null or x.state = $2)
    and x.review_id > $3
    order by x.review_id
    limit $4
) r on true
where t.tenant_id = $1
order by r.review_id
