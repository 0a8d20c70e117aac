-- review_decide
update reviews
set state = $3,
    decided_at = $4,
    decided_by = $5,
    decision_reason = $6,
    merge_id = $7
where tenant_id = $1
and review_id = $2
and state = 'open'
