-- erase_users
-- The ids stay, with nothing beside them: whoever writes under one is refused.
update users
set status = 'forgotten',
    merged_into = null,
    turn_count = 0,
    byte_count = 0,
    generation = generation + 1,
    version = version + 1,
    updated_at = $3
where tenant_id = $1
and user_id = any($2)
returning user_id
