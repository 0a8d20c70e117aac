-- resolve_first_sight
with minted as (
    insert into users (
        tenant_id, user_id, status, merged_into, generation, turn_count, byte_count, version,
        created_at, updated_at
    )
    values ($1, $4,
        case when $10::uuid is null then 'active' else 'merged' end, $10, 1, 0, 0, 0, $9, $9
    )
    returning tenant_id, user_id
)
insert into platform_identities (
    tenant_id, kind, channel_id, user_id, display_name, email, email_verified, first_seen_at,
    last_seen_at, claim_source, shared
)
select tenant_id, $2, $3, user_id, $5, $6, $7, $9, $9, $8, $11
from minted
on conflict (tenant_id, kind, channel_id) do nothing
returning user_id
