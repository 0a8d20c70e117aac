//! Comparing counters with turns, and mending them (T-71).

use throughline_conversation_memory::{Reconciled, RetentionError};
use throughline_domain::{TenantId, UserId};
use tokio_postgres::types::Type;
use uuid::Uuid;

use super::{failed, known};
use crate::error::StoreError;
use crate::row::{Reader, uuid};
use crate::session::Session;
use crate::statement::{ForTenant, Statement};
use crate::store::PostgresStore;

pub(super) static LOOK: ForTenant = ForTenant(Statement {
    name: "gc_reconcile",
    sql: include_str!("gc_reconcile.sql"),
    params: &[Type::TEXT, Type::UUID, Type::INT8],
});

pub(super) static LOCK: ForTenant = ForTenant(Statement {
    name: "gc_mend_lock",
    sql: "-- gc_mend_lock\n\
          select user_id\n\
          from users\n\
          where tenant_id = $1\n\
          and user_id = any($2)\n\
          order by user_id\n\
          for no key update",
    params: &[Type::TEXT, Type::UUID_ARRAY],
});

pub(super) static MEND: ForTenant = ForTenant(Statement {
    name: "gc_mend",
    sql: include_str!("gc_mend.sql"),
    params: &[Type::TEXT, Type::UUID_ARRAY, Type::TIMESTAMPTZ],
});

pub(super) async fn reconcile(
    store: &PostgresStore,
    tenant: &TenantId,
    after: Option<UserId>,
    users: u32,
) -> Result<Reconciled, RetentionError> {
    let after = uuid(after.map_or(0, UserId::as_u128));
    let users = users.max(1);
    let rows = store
        .sessions
        .query(tenant, &LOOK, &[&after, &i64::from(users)])
        .await;
    let rows = rows.map_err(failed)?;
    if rows.is_empty() {
        // Nobody is left, or there is no such tenant.
        let exists = store
            .sessions
            .query(tenant, &crate::memory::EXISTS, &[])
            .await;
        if exists.map_err(failed)?.is_empty() {
            known(None, tenant)?;
        }
        return Ok(Reconciled::default());
    }
    let mut found = Reconciled::default();
    let mut drifted = Vec::new();
    let mut last = after;
    for row in &rows {
        let row = Reader::of(row, "users").keyed(&tenant);
        last = row.get("user_id").map_err(failed)?;
        let turns = row.number("turns_off").map_err(failed)?;
        let bytes = row.number("bytes_off").map_err(failed)?;
        found.users += 1;
        found.turns_off += turns;
        found.bytes_off += bytes;
        if turns > 0 || bytes > 0 {
            found.drifted += 1;
            drifted.push(last);
        }
    }
    if found.users == u64::from(users) {
        found.next = Some(UserId::from_u128(last.as_u128()));
    }
    if !drifted.is_empty() {
        let session = store.sessions.session().await.map_err(failed)?;
        mend(&session, store, tenant, &drifted)
            .await
            .map_err(failed)?;
    }
    Ok(found)
}

/// Under the users' locks, so that nothing is counted while it moves.
async fn mend(
    session: &Session<'_>,
    store: &PostgresStore,
    tenant: &TenantId,
    users: &[Uuid],
) -> Result<(), StoreError> {
    let now = store.clock.now().to_system_time();
    session.begin().await?;
    let bound = session.bound(tenant);
    bound.query(&LOCK, &[&users]).await?;
    bound.query(&MEND, &[&users, &now]).await?;
    session.commit().await
}
