//! Raw reads: turns and the entry in the trail in one transaction.

use async_trait::async_trait;
use throughline_conversation_memory::{
    AuditDetail, MemoryError, RawReads, ReadRaw, RecentPage, RecentQuery,
};
use throughline_domain::{Actor, TenantId, UserId};
use uuid::Uuid;

use super::recent::{Asked, RECENT_RAW, page};
use crate::audit::{self, Entry};
use crate::error::StoreError;
use crate::session::Session;
use crate::store::PostgresStore;

#[async_trait]
impl RawReads for PostgresStore {
    async fn recent_raw(
        &self,
        tenant: &TenantId,
        user: UserId,
        query: &RecentQuery,
        actor: &Actor,
    ) -> Result<RecentPage, MemoryError> {
        let session = self.sessions.session().await.map_err(StoreError::memory)?;
        session.begin().await.map_err(StoreError::memory)?;
        let read = read_and_tell(self, &session, tenant, user, query, actor).await;
        if read.is_ok() {
            // An unknown outcome is an error too: what may not be written down is not shown.
            session.commit().await.map_err(StoreError::memory)?;
        } else {
            // A lost connection cannot roll back; the first error is the one to tell.
            let _ = session.rollback().await;
        }
        read
    }
}

async fn read_and_tell(
    store: &PostgresStore,
    session: &Session<'_>,
    tenant: &TenantId,
    user: UserId,
    query: &RecentQuery,
    actor: &Actor,
) -> Result<RecentPage, MemoryError> {
    let now = store.clock.now();
    let asked = Asked::new(user, query, now);
    let bound = session.bound(tenant);
    let rows = bound.query(&RECENT_RAW, &asked.params()).await;
    let rows = rows.map_err(StoreError::memory)?;
    let page = page(&rows, tenant, user, query)?;
    let whose = rows
        .first()
        .and_then(|row| row.try_get::<_, Uuid>("whose").ok());
    let whose = whose.map_or(user, |id| UserId::from_u128(id.as_u128()));
    let entry = Entry {
        actor,
        user: Some(whose),
        target: None,
        detail: &AuditDetail::ReadRaw(ReadRaw::of(query, &page.turns)),
        now,
    };
    let written = audit::write(store, session, tenant, entry).await;
    written.map_err(StoreError::memory)?;
    Ok(page)
}
