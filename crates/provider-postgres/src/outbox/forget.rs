//! What must not be kept: old dead letters, and everything of a deleted person (T-37).

use throughline_conversation_memory::{AuthorRef, OutboxError};
use throughline_domain::{TenantId, Timestamp, UserId};
use tokio_postgres::Row;
use tokio_postgres::types::Type;
use uuid::Uuid;

use super::{TABLE, refused};
use crate::error::StoreError;
use crate::row::{Reader, uuid};
use crate::session::Param;
use crate::statement::{ForTenant, Statement};
use crate::store::PostgresStore;

pub(super) static EXPIRE: ForTenant = ForTenant(Statement {
    name: "outbox_expire",
    sql: include_str!("outbox_expire.sql"),
    params: &[Type::TEXT, Type::TIMESTAMPTZ, Type::INT8],
});

/// By users and by channel users.
pub(super) static FORGET: ForTenant = ForTenant(Statement {
    name: "outbox_forget",
    sql: include_str!("outbox_forget.sql"),
    params: &[
        Type::TEXT,
        Type::UUID_ARRAY,
        Type::TEXT_ARRAY,
        Type::TEXT_ARRAY,
    ],
});

pub(super) async fn expire(
    store: &PostgresStore,
    tenant: &TenantId,
    died_before: Timestamp,
    limit: u32,
) -> Result<u64, OutboxError> {
    let (before, limit) = (died_before.to_system_time(), i64::from(limit));
    let params: [Param<'_>; 2] = [&before, &limit];
    let rows = store.sessions.query(tenant, &EXPIRE, &params).await;
    let deleted = rows.and_then(|rows| count(&rows));
    deleted.map_err(|error| refused(error, tenant))
}

pub(super) async fn forget(
    store: &PostgresStore,
    tenant: &TenantId,
    users: &[UserId],
    channel_users: &[AuthorRef],
) -> Result<u64, OutboxError> {
    let users: Vec<Uuid> = users.iter().map(|user| uuid(user.as_u128())).collect();
    let (kinds, ids): (Vec<&str>, Vec<&str>) = channel_users
        .iter()
        .map(|user| (user.kind.as_str(), user.id.as_str()))
        .unzip();
    let params: [Param<'_>; 3] = [&users, &kinds, &ids];
    let rows = store.sessions.query(tenant, &FORGET, &params).await;
    let deleted = rows.and_then(|rows| count(&rows));
    deleted.map_err(|error| refused(error, tenant))
}

fn count(rows: &[Row]) -> Result<u64, StoreError> {
    let of = |row| Reader::of(row, TABLE).number("entries");
    rows.iter().map(of).sum()
}
