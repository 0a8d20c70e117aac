-- gc_beyond
-- The shortest run of a person's oldest turns without which the rest is within both caps (R-144,
-- R-145), at most $5. The counters are read under the lock, so they are those of this moment.
with person as materialized (
    select u.turn_count, u.byte_count
    from users u
    where u.tenant_id = $1
    and u.user_id = $2
    for no key update
),
oldest as (
    select
        o.place,
        row_number() over w - 1 as turns_before,
        sum(o.bytes) over w - o.bytes as bytes_before
    from (
        select
            m.ctid as place,
            m.created_at,
            m.seq,
            m.user_message_bytes::bigint + m.assistant_bytes + m.aux_bytes as bytes
        from cross_channel_messages m
        where m.tenant_id = $1
        and m.user_id = $2
        order by m.created_at, m.seq
        limit $5
    ) o
    window w as (order by o.created_at, o.seq rows unbounded preceding)
),
doomed as materialized (
    select o.place
    from oldest o
    cross join person p
    where p.turn_count - o.turns_before > $3
    or p.byte_count - o.bytes_before > $4
),
deleted as (
    delete from cross_channel_messages m
    where m.tenant_id = $1
    and m.user_id = $2
    and m.ctid = any(array(select d.place from doomed d))
    returning
        m.user_id,
        m.client_message_id,
        m.user_message_bytes::bigint + m.assistant_bytes + m.aux_bytes as bytes
),
stones as (
    insert into idempotency_tombstones (tenant_id, key_digest, reason, until)
    select $1, d.key_digest, 'expired', $7
    from (
        select sha256(convert_to($1 || ':' || d.client_message_id, 'UTF8')) as key_digest
        from deleted d
        -- One after the other in the index: digests at random cost a sixth more.
        order by 1
    ) d
    on conflict (tenant_id, key_digest) do update
    set until = greatest(idempotency_tombstones.until, excluded.until)
),
counted as (
    update users u
    set turn_count = u.turn_count - s.turns,
        byte_count = u.byte_count - s.bytes,
        version = u.version + 1,
        updated_at = $6
    from (
        select d.user_id, count(*) as turns, sum(d.bytes)::bigint as bytes
        from deleted d
        group by d.user_id
    ) s
    where u.tenant_id = $1
    and u.user_id = s.user_id
)
select
    exists (select from tenants t where t.tenant_id = $1) as known,
    (select count(*) from doomed) as seen,
    count(*) as swept,
    coalesce(sum(d.bytes), 0)::bigint as bytes
from deleted d
