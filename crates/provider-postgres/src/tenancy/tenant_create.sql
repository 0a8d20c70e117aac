-- tenant_create
with made as (
    insert into tenants (tenant_id, status, config, config_revision, erasure_epoch, created_at)
    values ($1, $2, $3::text::jsonb, 1, 0, $4)
    on conflict (tenant_id) do nothing
    returning tenant_id, status, config::text as config, config_revision, erasure_epoch, created_at
),
stream as (
    insert into tenant_streams (tenant_id, seq)
    select tenant_id, 0
    from made
)
select tenant_id, status, config, config_revision, erasure_epoch, created_at
from made
