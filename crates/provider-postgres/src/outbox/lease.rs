//! A worker takes what is due.

use throughline_conversation_memory::{Leased, OutboxError, OutboxLease};
use throughline_domain::{OutboxId, TenantId};
use tokio_postgres::Row;
use tokio_postgres::types::Type;
use uuid::Uuid;

use super::{TABLE, refused};
use crate::error::StoreError;
use crate::row::{Reader, uuid};
use crate::statement::{ForTenant, Statement};
use crate::store::PostgresStore;

pub(super) static LEASE: ForTenant = ForTenant(Statement {
    name: "outbox_lease",
    sql: include_str!("outbox_lease.sql"),
    params: &[
        Type::TEXT,
        Type::TIMESTAMPTZ,
        Type::INT8,
        Type::UUID,
        Type::TIMESTAMPTZ,
    ],
});

pub(super) async fn lease(
    store: &PostgresStore,
    tenant: &TenantId,
    lease: OutboxLease,
) -> Result<Vec<Leased>, OutboxError> {
    let now = store.clock.now();
    let until = now.plus(lease.lasts).to_system_time();
    let (limit, worker) = (i64::from(lease.limit), uuid(lease.worker.as_u128()));
    let rows = store
        .sessions
        .query(
            tenant,
            &LEASE,
            &[&now.to_system_time(), &limit, &worker, &until],
        )
        .await;
    let rows = rows.map_err(|error| refused(error, tenant))?;
    let taken: Result<Vec<Leased>, StoreError> = rows.iter().map(leased).collect();
    let mut taken = taken.map_err(|error| refused(error, tenant))?;
    // The order of an update's answer is nobody's promise.
    taken.sort_by_key(|leased| (leased.created_at, leased.id));
    Ok(taken)
}

fn leased(row: &Row) -> Result<Leased, StoreError> {
    let row = Reader::of(row, TABLE);
    let id = OutboxId::from_u128(row.get::<Uuid>("id")?.as_u128());
    let row = row.keyed(&id);
    let attempts = row.get::<i32>("attempts")?.try_into();
    Ok(Leased {
        id,
        attempts: attempts.map_err(|_| row.corrupt("attempts"))?,
        created_at: row.time("created_at")?,
        payload: row.get("payload")?,
    })
}
