//! What a remembered page is compared with (docs/adr/0042).

mod together;

use throughline_conversation_memory::{Freshness, MemoryError, ReadVersion};
use throughline_domain::{TenantId, Timestamp, UserId};
use tokio_postgres::Row;
use tokio_postgres::types::Type;
use uuid::Uuid;

use crate::error::StoreError;
use crate::row::{Reader, uuid};
use crate::session::Sessions;
use crate::statement::{ForTenant, Statement};
use crate::store::PostgresStore;

pub(super) use self::together::READ_VERSIONS;
pub(crate) use self::together::Versions;

pub(super) static READ_VERSION: ForTenant = ForTenant(Statement {
    name: "read_version",
    sql: include_str!("read_version.sql"),
    params: &[Type::TEXT, Type::UUID],
});

pub(super) async fn read_version(
    store: &PostgresStore,
    tenant: &TenantId,
    user: UserId,
) -> Result<Option<ReadVersion>, MemoryError> {
    match &store.versions {
        Some(versions) => versions.ask(tenant, user).await,
        None => ask(&store.sessions, tenant, user).await,
    }
}

/// Of one person, in a statement of its own.
async fn ask(
    sessions: &Sessions,
    tenant: &TenantId,
    user: UserId,
) -> Result<Option<ReadVersion>, MemoryError> {
    let user = uuid(user.as_u128());
    let rows = sessions.query(tenant, &READ_VERSION, &[&user]).await;
    let rows = rows.map_err(StoreError::memory)?;
    let version = rows.first().map(version).transpose();
    Ok(version.map_err(StoreError::memory)?.flatten())
}

/// How long a page may be remembered; `None` where nobody's version tells that it has changed.
pub(super) fn fresh(rows: &[Row]) -> Result<Option<Freshness>, StoreError> {
    let Some(version) = rows.first().map(version).transpose()?.flatten() else {
        return Ok(None);
    };
    let mut until = Timestamp::from_micros(i64::MAX);
    for row in rows {
        let row = Reader::of(row, "cross_channel_messages");
        let ends = row.get::<Option<std::time::SystemTime>>("ends_at")?;
        until = ends.map_or(until, |ends| until.min(Timestamp::from_system_time(ends)));
    }
    Ok(Some(Freshness { version, until }))
}

/// `None` in the row of somebody unknown.
fn version(row: &Row) -> Result<Option<ReadVersion>, StoreError> {
    let row = Reader::of(row, "users");
    let Some(whose) = row.get::<Option<Uuid>>("whose")? else {
        return Ok(None);
    };
    let row = row.keyed(&whose);
    Ok(Some(ReadVersion {
        user: UserId::from_u128(whose.as_u128()),
        changes: row.number("changes")?,
        rules: row.number("config_revision")?,
    }))
}
