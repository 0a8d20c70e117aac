-- review_propose
-- Both people are locked, so nobody else can propose the same in between.
with standing as (
    select review_id
    from reviews
    where tenant_id = $1
    and primary_user_id = $3
    and secondary_user_id = $4
    and reason = 'proposal'
    and state = 'open'
),
made as (
    insert into reviews (
        tenant_id, review_id, reason, state, primary_user_id, secondary_user_id, proposed_by,
        created_at
    )
    select $1, $2, 'proposal', 'open', $3, $4, $5, $6
    where not exists (select from standing)
    returning review_id
)
select review_id
from standing
union all
select review_id
from made
