-- merge_users
-- The counters are added, by what really moved (T-52), and every earlier alias points at the new
-- survivor: one hop at most, whatever the chain.
update users
set status = case when user_id = $3 then status else 'merged' end,
    merged_into = case when user_id = $3 then null else $3 end,
    turn_count = case when user_id = $3 then turn_count + $4 else 0 end,
    byte_count = case when user_id = $3 then byte_count + $5 else 0 end,
    generation = generation + 1,
    version = version + 1,
    updated_at = $6
where tenant_id = $1
and (user_id = $2 or merged_into = $2 or user_id = $3)
