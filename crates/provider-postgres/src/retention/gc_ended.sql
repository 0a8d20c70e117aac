-- gc_ended
-- People are locked first, in sorted order, as append, merge and erase do; only then turns. A turn that
-- somebody moved in between is at another place or with another person and stays for the next chunk.
-- "is true" keeps the planner from joining turns with people, which it takes to be ten: each turn was compared
-- with every person. As a condition it is a look into a hash.
with doomed as materialized (
    select m.ctid as place, m.user_id
    from cross_channel_messages m
    where m.tenant_id = $1
    and m.expires_at <= $2
    order by m.expires_at
    limit $3
),
people as materialized (
    select array_agg(l.user_id) as ids
    from (
        select u.user_id
        from users u
        where u.tenant_id = $1
        and u.user_id in (select d.user_id from doomed d)
        order by u.user_id
        for no key update of u
    ) l
),
deleted as (
    delete from cross_channel_messages m
    where m.tenant_id = $1
    and m.ctid = any(array(select d.place from doomed d))
    and (m.user_id in (select unnest(p.ids) from people p)) is true
    and m.expires_at <= $2
    returning
        m.user_id,
        m.client_message_id,
        m.user_message_bytes::bigint + m.assistant_bytes + m.aux_bytes as bytes
),
stones as (
    insert into idempotency_tombstones (tenant_id, key_digest, reason, until)
    select $1, d.key_digest, 'expired', $4
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
        updated_at = $2
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
