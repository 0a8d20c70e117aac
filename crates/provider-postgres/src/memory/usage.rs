//! How much is stored for a user.

use throughline_conversation_memory::{MemoryError, Usage};
use throughline_domain::{TenantId, UserId};
use tokio_postgres::types::Type;

use crate::error::StoreError;
use crate::row::{Reader, uuid};
use crate::statement::{ForTenant, Statement};
use crate::store::PostgresStore;

pub(super) static USAGE: ForTenant = ForTenant(Statement {
    name: "usage",
    sql: "-- usage\n\
          select coalesce(u.turn_count, 0) as turn_count, coalesce(u.byte_count, 0) as byte_count\n\
          from tenants t\n\
          left join users asked on asked.tenant_id = t.tenant_id and asked.user_id = $2\n\
          left join users u\n\
          on u.tenant_id = t.tenant_id and u.user_id = coalesce(asked.merged_into, asked.user_id)\n\
          where t.tenant_id = $1",
    params: &[Type::TEXT, Type::UUID],
});

pub(super) async fn usage(
    store: &PostgresStore,
    tenant: &TenantId,
    user: UserId,
) -> Result<Usage, MemoryError> {
    let rows = store
        .sessions
        .query(tenant, &USAGE, &[&uuid(user.as_u128())])
        .await;
    let rows = rows.map_err(StoreError::memory)?;
    let row = rows
        .first()
        .ok_or_else(|| MemoryError::UnknownTenant(tenant.clone()))?;
    let row = Reader::of(row, "users").keyed(&user);
    let read = || {
        Ok(Usage {
            turn_count: row.number("turn_count")?,
            byte_count: row.number("byte_count")?,
        })
    };
    read().map_err(StoreError::memory)
}
