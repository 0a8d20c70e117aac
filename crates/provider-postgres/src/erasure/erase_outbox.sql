-- erase_outbox
-- What waits under an id or a channel user of the person, dead letters too. Whoever sent it was told
-- that it is kept and may repeat it, so its key is refused like that of a stored turn (T-37, T-57).
with gone as (
    delete from ccm_outbox o
    where o.tenant_id = $1
    and (
        o.user_id = any($2)
        or (o.ref_kind, o.ref_id) in (
            select r.kind, r.id
            from unnest($3::text[], $4::text[]) as r (kind, id)
        )
    )
    returning o.client_message_id
),
barred as (
    insert into idempotency_tombstones (tenant_id, key_digest, reason, until)
    select distinct $1, sha256(convert_to($1 || ':' || g.client_message_id, 'UTF8')), 'erased', $5
    from gone g
    where not exists (
        select
        from cross_channel_messages m
        where m.tenant_id = $1
        and m.client_message_id = g.client_message_id
    )
    on conflict (tenant_id, key_digest) do update
    set until = greatest(idempotency_tombstones.until, excluded.until)
    returning until
)
select
    (select count(*) from gone) as entries,
    (select count(*) from barred) as keys
