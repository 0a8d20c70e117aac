-- resolve
-- The configuration comes along only where addresses join people: elsewhere nobody needs it.
select
    u.user_id as account_id,
    coalesce(u.merged_into, u.user_id) as user_id,
    i.display_name,
    i.email,
    i.email_verified,
    coalesce(i.shared, false) as shared,
    i.first_seen_at,
    i.last_seen_at,
    case when (t.config ->> 'auto_merge_on_email')::boolean then t.config::text end as joining
from platform_identities i
join users u on u.tenant_id = i.tenant_id and u.user_id = i.user_id
join tenants t on t.tenant_id = i.tenant_id
where i.tenant_id = $1
and i.kind = $2
and i.channel_id = $3
