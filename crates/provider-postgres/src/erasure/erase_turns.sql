-- erase_turns
-- A key that was used is refused for longer than any retry lives (T-57); only its digest stays.
with gone as (
    delete from cross_channel_messages
    where tenant_id = $1
    and user_id = any($2)
    returning client_message_id, user_message_bytes::bigint + assistant_bytes + aux_bytes as bytes
),
barred as (
    insert into idempotency_tombstones (tenant_id, key_digest, reason, until)
    select $1, sha256(convert_to($1 || ':' || client_message_id, 'UTF8')), 'erased', $3
    from gone
    on conflict (tenant_id, key_digest) do update
    set until = greatest(idempotency_tombstones.until, excluded.until)
    returning until
)
select
    (select count(*) from gone) as turns,
    (select coalesce(sum(bytes), 0)::bigint from gone) as bytes,
    (select count(*) from barred) as keys
