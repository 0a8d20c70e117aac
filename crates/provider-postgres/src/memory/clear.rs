//! The watermark of a channel scope.

use throughline_conversation_memory::{ChannelScope, MemoryError};
use throughline_domain::TenantId;
use tokio_postgres::types::Type;

use crate::error::StoreError;
use crate::statement::{ForTenant, Statement};
use crate::store::PostgresStore;

/// The counter read here covers every committed turn: an append that has not committed still holds
/// its own bump back. A watermark never moves backwards.
pub(super) static CLEAR: ForTenant = ForTenant(Statement {
    name: "clear",
    sql: "-- clear\n\
          insert into conversations (tenant_id, channel_kind, channel_scope, cleared_seq, cleared_at)\n\
          select s.tenant_id, $2, $3, s.seq, $4\n\
          from tenant_streams s\n\
          where s.tenant_id = $1\n\
          on conflict (tenant_id, channel_kind, channel_scope) do update\n\
          set cleared_seq = excluded.cleared_seq, cleared_at = excluded.cleared_at\n\
          where conversations.cleared_seq <= excluded.cleared_seq\n\
          returning cleared_seq",
    params: &[Type::TEXT, Type::TEXT, Type::TEXT, Type::TIMESTAMPTZ],
});

/// Tells a watermark that stood farther on already from a tenant that does not exist.
pub(crate) static EXISTS: ForTenant = ForTenant(Statement {
    name: "clear_tenant",
    sql: "-- clear_tenant\n\
          select\n\
          from tenants\n\
          where tenant_id = $1",
    params: &[Type::TEXT],
});

pub(super) async fn clear(
    store: &PostgresStore,
    tenant: &TenantId,
    scope: &ChannelScope,
) -> Result<(), MemoryError> {
    let now = store.clock.now().to_system_time();
    let params: [crate::session::Param<'_>; 3] = [&scope.kind().as_str(), &scope.id(), &now];
    let rows = store.sessions.query(tenant, &CLEAR, &params).await;
    if rows.map_err(StoreError::memory)?.is_empty() {
        let rows = store.sessions.query(tenant, &EXISTS, &[]).await;
        if rows.map_err(StoreError::memory)?.is_empty() {
            return Err(MemoryError::UnknownTenant(tenant.clone()));
        }
    }
    Ok(())
}
