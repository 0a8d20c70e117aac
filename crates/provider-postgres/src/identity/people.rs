//! Whole people under lock: a survivor with everybody merged into them.

use throughline_domain::{TenantId, UserId};
use throughline_platform_identity::{PlatformUserId, UserStatus};
use tokio_postgres::types::Type;
use uuid::Uuid;

use crate::error::StoreError;
use crate::row::{Reader, uuid};
use crate::session::Session;
use crate::statement::{ForTenant, Statement};
use crate::transaction::Abort;

pub(super) static ROOTS: ForTenant = ForTenant(Statement {
    name: "people_find",
    sql: "-- people_find\n\
          select user_id, status, merged_into\n\
          from users\n\
          where tenant_id = $1\n\
          and (user_id = any($2) or merged_into = any($2))\n\
          order by user_id",
    params: &[Type::TEXT, Type::UUID_ARRAY],
});

/// In sorted order, as everybody who takes several (D-05).
pub(super) static LOCK: ForTenant = ForTenant(Statement {
    name: "people_lock",
    sql: "-- people_lock\n\
          select user_id, status, merged_into\n\
          from users\n\
          where tenant_id = $1\n\
          and (user_id = any($2) or merged_into = any($2))\n\
          order by user_id\n\
          for update",
    params: &[Type::TEXT, Type::UUID_ARRAY],
});

/// The channel users of people.
pub(super) static CHANNEL_USERS: ForTenant = ForTenant(Statement {
    name: "people_channel_users",
    sql: "-- people_channel_users\n\
          select kind, channel_id\n\
          from platform_identities\n\
          where tenant_id = $1\n\
          and user_id = any($2)",
    params: &[Type::TEXT, Type::UUID_ARRAY],
});

/// A survivor and those merged into them, all rows locked against appends, merges and erasures until
/// the transaction ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Person {
    pub(crate) root: UserId,
    pub(crate) status: UserStatus,
    /// Every id of theirs, the root included, sorted.
    pub(crate) ids: Vec<UserId>,
}

struct Row {
    id: UserId,
    status: UserStatus,
    merged_into: Option<UserId>,
}

impl Person {
    pub(crate) fn uuids(&self) -> Vec<Uuid> {
        uuids(&self.ids)
    }
}

pub(crate) fn uuids(ids: &[UserId]) -> Vec<Uuid> {
    ids.iter().map(|id| uuid(id.as_u128())).collect()
}

/// Every channel user of these accounts.
pub(crate) async fn channel_users(
    session: &Session<'_>,
    tenant: &TenantId,
    accounts: &[UserId],
) -> Result<Vec<PlatformUserId>, StoreError> {
    let rows = session
        .bound(tenant)
        .query(&CHANNEL_USERS, &[&uuids(accounts)])
        .await?;
    let read = |row| {
        let row = Reader::of(row, "platform_identities");
        let kind = row.parsed("kind", |word| word.parse().ok())?;
        row.parsed("channel_id", |id| PlatformUserId::new(kind, id).ok())
    };
    rows.iter().map(read).collect()
}

/// Locks the people behind these ids, each asked id answered in its place; `None` for one that never
/// was. Two asked ids can have one person.
pub(crate) async fn lock<E>(
    session: &Session<'_>,
    tenant: &TenantId,
    asked: &[UserId],
) -> Result<Vec<Option<Person>>, Abort<E>> {
    let found = rows(session, tenant, &ROOTS, asked).await?;
    let roots: Vec<UserId> = asked.iter().filter_map(|id| root_of(&found, *id)).collect();
    let locked = rows(session, tenant, &LOCK, &roots).await?;
    // Somebody may have joined or left between the two statements, and rows that a lock waited for
    // can be newer than the statement's view of the others. Read again: now nothing can move.
    let settled = rows(session, tenant, &ROOTS, &roots).await?;
    let same = |a: &Row, b: &Row| (a.id, a.merged_into) == (b.id, b.merged_into);
    let stable = settled.len() == locked.len()
        && settled.iter().zip(&locked).all(|(a, b)| same(a, b))
        && asked.iter().all(|id| {
            root_of(&found, *id).is_none() || root_of(&settled, *id) == root_of(&found, *id)
        });
    if !stable {
        return Err(Abort::Moved);
    }
    Ok(asked.iter().map(|id| person(&settled, *id)).collect())
}

/// The survivor behind an id, as of now.
pub(super) async fn root(
    session: &Session<'_>,
    tenant: &TenantId,
    id: UserId,
) -> Result<Option<UserId>, StoreError> {
    let found = rows(session, tenant, &ROOTS, &[id]).await?;
    Ok(root_of(&found, id))
}

fn root_of(rows: &[Row], id: UserId) -> Option<UserId> {
    let row = rows.iter().find(|row| row.id == id)?;
    Some(row.merged_into.unwrap_or(row.id))
}

fn person(rows: &[Row], id: UserId) -> Option<Person> {
    let root = root_of(rows, id)?;
    let root_row = rows.iter().find(|row| row.id == root)?;
    let ids = rows
        .iter()
        .filter(|row| row.id == root || row.merged_into == Some(root));
    Some(Person {
        root,
        status: root_row.status,
        ids: ids.map(|row| row.id).collect(),
    })
}

async fn rows(
    session: &Session<'_>,
    tenant: &TenantId,
    statement: &'static ForTenant,
    ids: &[UserId],
) -> Result<Vec<Row>, StoreError> {
    let rows = session
        .bound(tenant)
        .query(statement, &[&uuids(ids)])
        .await?;
    let read = |row| {
        let row = Reader::of(row, "users");
        let id = row.user("user_id")?;
        let row = row.keyed(&id);
        let merged_into: Option<Uuid> = row.get("merged_into")?;
        Ok(Row {
            id,
            status: row.parsed("status", UserStatus::parse)?,
            merged_into: merged_into.map(|id| UserId::from_u128(id.as_u128())),
        })
    };
    rows.iter().map(read).collect()
}
