-- undo_merge_users
-- The counters of both are counted anew (D-16).
with counted as (
    select
        user_id,
        count(*) as turns,
        sum(user_message_bytes::bigint + assistant_bytes + aux_bytes)::bigint as bytes
    from cross_channel_messages
    where tenant_id = $1
    and user_id in ($2, $3)
    group by user_id
)
update users u
set status = case when u.user_id = any($4) and u.user_id <> $3 then 'merged' else 'active' end,
    merged_into = case when u.user_id = any($4) and u.user_id <> $3 then $3 end,
    turn_count = coalesce((select c.turns from counted c where c.user_id = u.user_id), 0),
    byte_count = coalesce((select c.bytes from counted c where c.user_id = u.user_id), 0),
    generation = u.generation + 1,
    version = u.version + 1,
    updated_at = $5
where u.tenant_id = $1
and (u.user_id = $2 or u.user_id = any($4))
