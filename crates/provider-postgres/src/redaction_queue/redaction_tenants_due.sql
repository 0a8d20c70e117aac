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
    or exists (
        select
        from cross_channel_messages x
        where x.tenant_id = t.tenant_id
        and x.redaction_state <> 'pending'
        and x.content_form = 'raw'
        and x.detector_version < $2
    )
)
order by t.tenant_id
limit $3
