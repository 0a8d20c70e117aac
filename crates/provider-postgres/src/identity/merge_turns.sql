-- merge_turns
-- Only user_id moves: origin_user_id keeps the account, so that undo_merge finds the way back.
with moved as (
    update cross_channel_messages
    set user_id = $3
    where tenant_id = $1
    and user_id = $2
    returning user_message_bytes::bigint + assistant_bytes + aux_bytes as bytes
)
select
    count(*) as turns,
    coalesce(sum(bytes), 0)::bigint as bytes
from moved
