//! A user with every identity.

use throughline_domain::{TenantId, UserId};
use throughline_platform_identity::{
    ClaimSource, Identity, IdentityError, PlatformUserId, User, UserStatus,
};
use tokio_postgres::Row;
use tokio_postgres::types::Type;
use uuid::Uuid;

use crate::error::StoreError;
use crate::row::{Reader, uuid};
use crate::statement::{ForTenant, Statement};
use crate::store::PostgresStore;

pub(super) static USER: ForTenant = ForTenant(Statement {
    name: "user",
    sql: include_str!("user.sql"),
    params: &[Type::TEXT, Type::UUID],
});

pub(super) async fn user(
    store: &PostgresStore,
    tenant: &TenantId,
    user: UserId,
) -> Result<Option<User>, IdentityError> {
    let rows = store
        .sessions
        .query(tenant, &USER, &[&uuid(user.as_u128())])
        .await
        .map_err(|error| error.identity(tenant))?;
    let first = rows
        .first()
        .ok_or_else(|| IdentityError::UnknownTenant(tenant.clone()))?;
    user_of(first, &rows).map_err(|error| error.identity(tenant))
}

/// `None` for one that never was, or was forgotten.
fn user_of(first: &Row, rows: &[Row]) -> Result<Option<User>, StoreError> {
    let row = Reader::of(first, "users");
    let Some(id) = row.get::<Option<Uuid>>("user_id")? else {
        return Ok(None);
    };
    let user_id = UserId::from_u128(id.as_u128());
    let row = row.keyed(&user_id);
    match row.get("status")? {
        "active" => {}
        "forgotten" => return Ok(None),
        _ => return Err(row.corrupt("status")),
    }
    let merged: Vec<Uuid> = row.get("merged_user_ids")?;
    let mut identities: Vec<Identity> = Vec::with_capacity(rows.len());
    for row in rows {
        identities.extend(identity_of(row, user_id)?);
    }
    // In Rust: the order of kinds is that of their type, not of their words.
    identities.sort_by(|a, b| (a.first_seen_at, &a.id).cmp(&(b.first_seen_at, &b.id)));
    let merged_user_ids = merged
        .into_iter()
        .map(|id| UserId::from_u128(id.as_u128()))
        .collect();
    Ok(Some(User {
        user_id,
        status: UserStatus::Active,
        identities,
        merged_user_ids,
    }))
}

fn identity_of(row: &Row, user: UserId) -> Result<Option<Identity>, StoreError> {
    let row = Reader::of(row, "platform_identities").keyed(&format!("user {user}"));
    let Some(kind) = row.get::<Option<&str>>("kind")? else {
        return Ok(None);
    };
    let kind = kind.parse().map_err(|_| row.corrupt("kind"))?;
    Ok(Some(Identity {
        id: row.parsed("channel_id", |id| PlatformUserId::new(kind, id).ok())?,
        display_name: row.get("display_name")?,
        email: row.get("email")?,
        email_verified: row.get("email_verified")?,
        shared: row.get("shared")?,
        first_seen_at: row.time("first_seen_at")?,
        last_seen_at: row.time("last_seen_at")?,
        claim_source: row.parsed("claim_source", ClaimSource::parse)?,
    }))
}
