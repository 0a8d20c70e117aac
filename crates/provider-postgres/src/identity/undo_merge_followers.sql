-- undo_merge_followers
-- Whoever left with $2 would be: themselves, and all who were merged into them, or into those.
with recursive followers (user_id) as (
    select $2::uuid
    union
    select m.secondary_user_id
    from followers f
    join merges m
    on m.tenant_id = $1 and m.primary_user_id = f.user_id and m.undone_at is null
)
select user_id
from followers
order by user_id
