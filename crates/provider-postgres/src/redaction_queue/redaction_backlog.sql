-- redaction_backlog
select
    (
        select count(*)
        from (
            select
            from cross_channel_messages x
            where x.redaction_state = 'pending'
            limit $1
        ) x
    ) as pending,
    (
        select min(m.ingested_at)
        from tenants t
        cross join lateral (
            select x.ingested_at
            from cross_channel_messages x
            where x.tenant_id = t.tenant_id
            and x.redaction_state = 'pending'
            order by x.id
            limit 1
        ) m
    ) as oldest
