//! Raw reads: the turns and the entry in the trail in one step.

use async_trait::async_trait;
use throughline_conversation_memory::{
    AuditDetail, MemoryError, RawReads, ReadRaw, RecentPage, RecentQuery,
};
use throughline_domain::{Actor, TenantId, UserId};

use crate::InMemoryStore;
use crate::memory::recent::{Pending, find};

#[async_trait]
impl RawReads for InMemoryStore {
    async fn recent_raw(
        &self,
        tenant: &TenantId,
        user: UserId,
        query: &RecentQuery,
        actor: &Actor,
    ) -> Result<RecentPage, MemoryError> {
        let read = self.write_tenant(tenant, |state, now| {
            let page = find(state, user, query, Pending::Shown, now).into_page();
            let detail = AuditDetail::ReadRaw(ReadRaw::of(query, &page.turns));
            let whose = state.people.root(user).unwrap_or(user);
            state
                .trail
                .write(&*self.ids, now, actor, (Some(whose), None), detail);
            page
        });
        read.ok_or_else(|| MemoryError::UnknownTenant(tenant.clone()))
    }
}
