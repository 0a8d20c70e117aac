-- review_find
select
    review_id,
    reason,
    state,
    primary_user_id,
    secondary_user_id,
    proposed_by,
    created_at,
    decided_at,
    decided_by,
    decision_reason,
    merge_id
from reviews
where tenant_id = $1
and review_id = $2
