-- append_find
-- What stands under these keys: a turn, or the tombstone of one. Sent after append_number, whose
-- lock makes the answer final until the commit.
select
    k.tenant_id,
    k.client_message_id,
    m.id,
    m.seq,
    m.user_id,
    m.origin_user_id,
    m.request_digest,
    m.redaction_state
from unnest($1::text[], $2::text[]) as k (tenant_id, client_message_id)
left join lateral (
    select x.id, x.seq, x.user_id, x.origin_user_id, x.request_digest, x.redaction_state
    from cross_channel_messages x
    where x.tenant_id = k.tenant_id
    and x.client_message_id = k.client_message_id
    limit 1
) m on true
left join lateral (
    select true as gone
    from idempotency_tombstones d
    where d.tenant_id = k.tenant_id
    and d.key_digest = sha256(convert_to(k.tenant_id || ':' || k.client_message_id, 'UTF8'))
    and d.until > $3
    limit 1
) d on true
where m.id is not null
or d.gone
