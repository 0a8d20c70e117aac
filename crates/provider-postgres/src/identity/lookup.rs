//! Channel user → user, without making one.

use throughline_domain::{TenantId, UserId};
use throughline_platform_identity::{IdentityError, PlatformUserId};
use tokio_postgres::types::Type;
use uuid::Uuid;

use crate::row::Reader;
use crate::statement::{ForTenant, Statement};
use crate::store::PostgresStore;

/// One row for a tenant that exists, so that "never seen" and "no such tenant" differ.
pub(super) static LOOKUP: ForTenant = ForTenant(Statement {
    name: "lookup",
    sql: "-- lookup\n\
          select coalesce(u.merged_into, u.user_id) as user_id\n\
          from tenants t\n\
          left join platform_identities i\n\
          on i.tenant_id = t.tenant_id and i.kind = $2 and i.channel_id = $3\n\
          left join users u on u.tenant_id = i.tenant_id and u.user_id = i.user_id\n\
          where t.tenant_id = $1",
    params: &[Type::TEXT, Type::TEXT, Type::TEXT],
});

pub(super) async fn lookup(
    store: &PostgresStore,
    tenant: &TenantId,
    id: &PlatformUserId,
) -> Result<Option<UserId>, IdentityError> {
    let rows = store
        .sessions
        .query(tenant, &LOOKUP, &[&id.kind.as_str(), &id.id()])
        .await
        .map_err(|error| error.identity(tenant))?;
    let row = rows
        .first()
        .ok_or_else(|| IdentityError::UnknownTenant(tenant.clone()))?;
    let row = Reader::of(row, "platform_identities").keyed(&id.kind);
    let user: Option<Uuid> = row.get("user_id").map_err(|error| error.identity(tenant))?;
    Ok(user.map(|user| UserId::from_u128(user.as_u128())))
}
