//! What an operator does: look, put back in line, throw away.

use throughline_conversation_memory::{
    ClientMessageId, OutboxEntry, OutboxError, OutboxQuery, OutboxState,
};
use throughline_domain::{OutboxId, TenantId, Timestamp, UserId};
use tokio_postgres::Row;
use tokio_postgres::types::Type;
use uuid::Uuid;

use super::{TABLE, refused};
use crate::error::StoreError;
use crate::row::{Reader, uuid};
use crate::session::Param;
use crate::statement::{ForTenant, Statement};
use crate::store::PostgresStore;

pub(super) static LIST: ForTenant = ForTenant(Statement {
    name: "outbox_list",
    sql: include_str!("outbox_list.sql"),
    params: &[Type::TEXT, Type::TEXT, Type::UUID, Type::INT8],
});

pub(super) static REQUEUE: ForTenant = ForTenant(Statement {
    name: "outbox_requeue",
    sql: "-- outbox_requeue\n\
          update ccm_outbox\n\
          set state = 'pending', attempts = 0, next_attempt_at = $3, died_at = null\n\
          where tenant_id = $1\n\
          and id = $2\n\
          and state = 'dlq'\n\
          returning id, client_message_id, user_id, state, attempts, last_error, created_at,\n\
          last_attempt_at, next_attempt_at, died_at",
    params: &[Type::TEXT, Type::UUID, Type::TIMESTAMPTZ],
});

pub(super) static DISCARD: ForTenant = ForTenant(Statement {
    name: "outbox_discard",
    sql: "-- outbox_discard\n\
          delete from ccm_outbox\n\
          where tenant_id = $1\n\
          and id = $2\n\
          and state = 'dlq'\n\
          returning id, client_message_id, user_id, state, attempts, last_error, created_at,\n\
          last_attempt_at, next_attempt_at, died_at",
    params: &[Type::TEXT, Type::UUID],
});

pub(super) async fn list(
    store: &PostgresStore,
    tenant: &TenantId,
    query: OutboxQuery,
) -> Result<Vec<OutboxEntry>, OutboxError> {
    let after = uuid(query.after.map_or(0, OutboxId::as_u128));
    let params: [Param<'_>; 3] = [&query.state.as_str(), &after, &i64::from(query.limit)];
    let rows = store.sessions.query(tenant, &LIST, &params).await;
    let rows = rows.map_err(|error| refused(error, tenant))?;
    if rows.is_empty() {
        return Err(OutboxError::UnknownTenant(tenant.clone()));
    }
    entries(&rows).map_err(|error| refused(error, tenant))
}

pub(super) async fn requeue(
    store: &PostgresStore,
    tenant: &TenantId,
    id: OutboxId,
) -> Result<Option<OutboxEntry>, OutboxError> {
    let now = store.clock.now().to_system_time();
    one(store, tenant, &REQUEUE, &[&uuid(id.as_u128()), &now]).await
}

pub(super) async fn discard(
    store: &PostgresStore,
    tenant: &TenantId,
    id: OutboxId,
) -> Result<Option<OutboxEntry>, OutboxError> {
    one(store, tenant, &DISCARD, &[&uuid(id.as_u128())]).await
}

async fn one(
    store: &PostgresStore,
    tenant: &TenantId,
    statement: &'static ForTenant,
    params: &[Param<'_>],
) -> Result<Option<OutboxEntry>, OutboxError> {
    let rows = store.sessions.query(tenant, statement, params).await;
    let entries = rows.and_then(|rows| entries(&rows));
    let mut entries = entries.map_err(|error| refused(error, tenant))?;
    Ok(entries.pop())
}

/// A row without an id is that of a tenant without entries.
fn entries(rows: &[Row]) -> Result<Vec<OutboxEntry>, StoreError> {
    let mut entries = Vec::with_capacity(rows.len());
    for row in rows {
        let row = Reader::of(row, TABLE);
        if let Some(id) = row.get::<Option<Uuid>>("id")? {
            let id = OutboxId::from_u128(id.as_u128());
            entries.push(entry(id, &row.keyed(&id))?);
        }
    }
    Ok(entries)
}

fn entry(id: OutboxId, row: &Reader<'_>) -> Result<OutboxEntry, StoreError> {
    let moment = |column| {
        let moment: Option<std::time::SystemTime> = row.get(column)?;
        Ok(moment.map(Timestamp::from_system_time))
    };
    let attempts = row.get::<i32>("attempts")?.try_into();
    Ok(OutboxEntry {
        id,
        key: row.parsed("client_message_id", |key| ClientMessageId::parse(key).ok())?,
        user: row
            .get::<Option<Uuid>>("user_id")?
            .map(|user| UserId::from_u128(user.as_u128())),
        state: row.parsed("state", OutboxState::parse)?,
        attempts: attempts.map_err(|_| row.corrupt("attempts"))?,
        last_error: row.get("last_error")?,
        created_at: row.time("created_at")?,
        last_attempt_at: moment("last_attempt_at")?,
        next_attempt_at: row.time("next_attempt_at")?,
        died_at: moment("died_at")?,
    })
}
