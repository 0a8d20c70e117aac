-- gc_mend
-- Sent in the transaction that holds these people's locks: nothing moves their turns meanwhile.
update users u
set turn_count = r.turns,
    byte_count = r.bytes,
    version = u.version + 1,
    updated_at = $3
from unnest($2::uuid[]) as k (user_id)
cross join lateral (
    select
        count(*) as turns,
        coalesce(sum(m.user_message_bytes::bigint + m.assistant_bytes + m.aux_bytes), 0)::bigint as bytes
    from cross_channel_messages m
    where m.tenant_id = $1
    and m.user_id = k.user_id
) r
where u.tenant_id = $1
and u.user_id = k.user_id
