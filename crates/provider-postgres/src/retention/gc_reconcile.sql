-- gc_reconcile
-- Counters and turns change together, so one snapshot shows both as they belong together: no lock is
-- needed to see that they disagree.
select
    exists (select from tenants t where t.tenant_id = $1) as known,
    u.user_id,
    abs(u.turn_count - r.turns) as turns_off,
    abs(u.byte_count - r.bytes) as bytes_off
from (
    select x.user_id, x.turn_count, x.byte_count
    from users x
    where x.tenant_id = $1
    and x.user_id > $2
    order by x.user_id
    limit $3
) u
cross join lateral (
    select
        count(*) as turns,
        coalesce(sum(m.user_message_bytes::bigint + m.assistant_bytes + m.aux_bytes), 0)::bigint as bytes
    from cross_channel_messages m
    where m.tenant_id = $1
    and m.user_id = u.user_id
) r
order by u.user_id
