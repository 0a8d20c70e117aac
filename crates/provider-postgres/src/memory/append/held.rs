//! Who of a batch is held by somebody who takes longer: a merge, its undo, an erasure, a sweep.

use std::collections::{BTreeSet, HashSet};

use tokio_postgres::types::Type;
use uuid::Uuid;

use super::{Appender, Row};
use crate::error::StoreError;
use crate::row::{Reader, uuid};
use crate::statement::{ForTenants, Statement};

pub(super) static FREE: ForTenants = ForTenants(Statement {
    name: "append_free",
    sql: include_str!("append_free.sql"),
    params: &[Type::TEXT_ARRAY, Type::UUID_ARRAY],
});

/// For each row, whether its user is held. One who never was counts as held: whoever waits for them
/// does not wait long.
pub(super) async fn held(store: &Appender, rows: &[Row<'_>]) -> Result<Vec<bool>, StoreError> {
    let people: BTreeSet<(&str, Uuid)> = rows.iter().map(person).collect();
    let (tenants, ids): (Vec<_>, Vec<_>) = people.into_iter().unzip();
    let session = store.sessions.session().await?;
    session.prepare(&[&FREE]).await?;
    let free = pairs(&session.query_rows(&FREE, &tenants, &[&ids]).await?)?;
    let is_held = |row: &Row<'_>| {
        let (tenant, user) = person(row);
        !free.contains(&(tenant.to_owned(), user))
    };
    Ok(rows.iter().map(is_held).collect())
}

fn person<'a>(row: &Row<'a>) -> (&'a str, Uuid) {
    (row.tenant.as_str(), uuid(row.turn.user().as_u128()))
}

fn pairs(rows: &[tokio_postgres::Row]) -> Result<HashSet<(String, Uuid)>, StoreError> {
    let read = |row| {
        let row = Reader::of(row, "users");
        Ok((row.get("tenant_id")?, row.get("user_id")?))
    };
    rows.iter().map(read).collect()
}
