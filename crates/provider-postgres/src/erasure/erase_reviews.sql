-- erase_reviews
delete from reviews
where tenant_id = $1
and (primary_user_id = any($2) or secondary_user_id = any($2))
returning review_id
