//! The merges that made a person what they are.

use throughline_domain::{Actor, MergeId, TenantId, UserId};
use throughline_platform_identity::{IdentityError, MergeRecord, MergeSource};
use tokio_postgres::Row;
use tokio_postgres::types::Type;
use uuid::Uuid;

use crate::error::StoreError;
use crate::row::{Reader, uuid};
use crate::statement::{ForTenant, Statement};
use crate::store::PostgresStore;

pub(super) static MERGES: ForTenant = ForTenant(Statement {
    name: "merges",
    sql: include_str!("merges.sql"),
    params: &[Type::TEXT, Type::UUID],
});

pub(super) async fn merges(
    store: &PostgresStore,
    tenant: &TenantId,
    user: UserId,
) -> Result<Vec<MergeRecord>, IdentityError> {
    let rows = store
        .sessions
        .query(tenant, &MERGES, &[&uuid(user.as_u128())])
        .await
        .map_err(|error| error.identity(tenant))?;
    let first = rows
        .first()
        .ok_or_else(|| IdentityError::UnknownTenant(tenant.clone()))?;
    let known: bool = first.try_get("known").unwrap_or(false);
    if !known {
        return Err(IdentityError::UnknownUser(user));
    }
    let merges = rows.iter().filter_map(|row| merge_of(row).transpose());
    merges
        .map(|merge| merge.map_err(|error| error.identity(tenant)))
        .collect()
}

fn merge_of(row: &Row) -> Result<Option<MergeRecord>, StoreError> {
    let row = Reader::of(row, "merges");
    let Some(id) = row.get::<Option<Uuid>>("merge_id")? else {
        return Ok(None);
    };
    let id = MergeId::from_u128(id.as_u128());
    let row = row.keyed(&id);
    let undone_at: Option<std::time::SystemTime> = row.get("undone_at")?;
    Ok(Some(MergeRecord {
        id,
        primary_user_id: row.user("primary_user_id")?,
        secondary_user_id: row.user("secondary_user_id")?,
        source: row.parsed("source", MergeSource::parse)?,
        actor: row.parsed("actor", |name| Actor::parse(name).ok())?,
        created_at: row.time("created_at")?,
        undone_at: undone_at.map(throughline_domain::Timestamp::from_system_time),
    }))
}
