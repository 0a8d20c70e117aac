-- outbox_enqueue
-- The fence keeps an erasure out until the row is there for it to find: key share meets the for
-- update of an erasure and never an append, which may be what is stuck. A key that waits already is
-- left alone and gives no row.
with fence as (
    select u.status
    from users u
    where u.tenant_id = $1
    and u.user_id = $5
    for key share
),
kept as (
    insert into ccm_outbox (
        tenant_id, id, kind, client_message_id, request_digest, user_id, ref_kind, ref_id, payload,
        state, attempts, last_error, last_attempt_at, next_attempt_at, created_at, died_at
    )
    select
        $1, $2, 'append_turn', $3, $4, $5, $6, $7, $8::text::json, $9, $10, $11,
        case when $10 > 0 then $12 end, $12, $12, case when $9 = 'dlq' then $12 end
    where not exists (
        select
        from fence
        where status = 'forgotten'
    )
    on conflict do nothing
    returning id
)
select
    exists (
        select
        from fence
        where status = 'forgotten'
    ) as gone,
    exists (
        select
        from kept
    ) as kept
