//! The latest turns of one channel scope.

use throughline_conversation_memory::{ChannelScope, Limit, MemoryError, Turn};
use throughline_domain::TenantId;
use tokio_postgres::types::Type;

use super::turn::turns;
use crate::error::StoreError;
use crate::statement::{ForTenant, Statement};
use crate::store::PostgresStore;

pub(super) static HISTORY: ForTenant = ForTenant(Statement {
    name: "history",
    sql: include_str!("history.sql"),
    params: &[
        Type::TEXT,
        Type::TEXT,
        Type::TEXT,
        Type::TIMESTAMPTZ,
        Type::INT8,
    ],
});

pub(super) async fn history(
    store: &PostgresStore,
    tenant: &TenantId,
    scope: &ChannelScope,
    limit: Limit,
) -> Result<Vec<Turn>, MemoryError> {
    let now = store.clock.now().to_system_time();
    let limit = i64::from(limit.get());
    let rows = store
        .sessions
        .query(
            tenant,
            &HISTORY,
            &[&scope.kind().as_str(), &scope.id(), &now, &limit],
        )
        .await
        .map_err(StoreError::memory)?;
    if rows.is_empty() {
        return Err(MemoryError::UnknownTenant(tenant.clone()));
    }
    let mut turns = turns(&rows).map_err(StoreError::memory)?;
    turns.reverse();
    Ok(turns)
}
