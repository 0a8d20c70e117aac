-- redaction_tenants_due
-- Two looks a tenant into indexes that are empty or end at once where nothing is due.
select t.tenant_id
from tenants t
where t.tenant_id > $1
and (
    exists (
        select
        from cross_channel_messages x
        where x.tenant_id = t.tenant_id
        and x.redaction_state = 'pending'
    )
    -- The lowest version out of the index: "is there a lower one" may read a table of turns through
    -- where there is none.
    or (
        select x.detector_version
        from cross_channel_messages x
        where x.tenant_id = t.tenant_id
        and x.redaction_state <> 'pending'
        and x.content_form = 'raw'
        order by x.detector_version
        limit 1
    ) < $2
)
order by t.tenant_id
limit $3
