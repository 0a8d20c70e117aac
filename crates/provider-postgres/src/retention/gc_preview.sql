-- gc_preview
-- What a pass would delete, counted up to $7. Only the part that $2 names is asked.
select
    exists (select from tenants t where t.tenant_id = $1) as known,
    count(*) as seen,
    count(*) as swept,
    coalesce(sum(f.bytes), 0)::bigint as bytes
from (
    (
        select m.user_message_bytes::bigint + m.assistant_bytes + m.aux_bytes as bytes
        from cross_channel_messages m
        where $2 = 'ended'
        and m.tenant_id = $1
        and m.expires_at <= $3
        limit $7
    )
    union all
    (
        select o.bytes
        from (
            select
                x.bytes,
                row_number() over w - 1 as turns_before,
                sum(x.bytes) over w - x.bytes as bytes_before
            from (
                select
                    m.created_at,
                    m.seq,
                    m.user_message_bytes::bigint + m.assistant_bytes + m.aux_bytes as bytes
                from cross_channel_messages m
                where $2 = 'beyond'
                and m.tenant_id = $1
                and m.user_id = $4
                order by m.created_at, m.seq
                limit $7
            ) x
            window w as (order by x.created_at, x.seq rows unbounded preceding)
        ) o
        join users u on u.tenant_id = $1 and u.user_id = $4
        where u.turn_count - o.turns_before > $5
        or u.byte_count - o.bytes_before > $6
    )
    union all
    (
        select 0
        from ccm_audit_events a
        where $2 = 'audit'
        and a.tenant_id = $1
        and a.created_at < $3
        limit $7
    )
    union all
    (
        select 0
        from idempotency_tombstones d
        where $2 = 'tombstones'
        and d.tenant_id = $1
        and d.until <= $3
        limit $7
    )
    union all
    (
        select 0
        from erased_refs r
        where $2 = 'tombstones'
        and r.tenant_id = $1
        and r.until <= $3
        limit $7
    )
) f
