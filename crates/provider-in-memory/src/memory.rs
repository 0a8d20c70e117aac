//! Conversation memory over the store.

mod append;
mod clear;
mod history;
pub(crate) mod recent;
mod window;

use async_trait::async_trait;
use throughline_conversation_memory::{
    AppendError, Appended, ChannelScope, ConversationMemory, Limit, MemoryError, NewTurn,
    RecentPage, RecentQuery, Turn, Usage,
};
use throughline_domain::{TenantId, UserId};

use self::recent::Pending;
use crate::InMemoryStore;

fn unknown(tenant: &TenantId) -> MemoryError {
    MemoryError::UnknownTenant(tenant.clone())
}

#[async_trait]
impl ConversationMemory for InMemoryStore {
    async fn append_batch(
        &self,
        tenant: &TenantId,
        turns: Vec<NewTurn>,
    ) -> Vec<Result<Appended, AppendError>> {
        self.write(|state, now| match state.tenants.get_mut(tenant) {
            Some(state) => append::batch(state, turns, self.ids.as_ref(), now),
            None => append::refuse(turns, tenant),
        })
    }

    async fn recent(
        &self,
        tenant: &TenantId,
        user: UserId,
        query: &RecentQuery,
    ) -> Result<RecentPage, MemoryError> {
        let found = self.read_tenant(tenant, |state, now| {
            recent::find(state, user, query, Pending::LeftOut, now)
        });
        Ok(found.ok_or_else(|| unknown(tenant))?.into_page())
    }

    async fn history(
        &self,
        tenant: &TenantId,
        scope: &ChannelScope,
        limit: Limit,
    ) -> Result<Vec<Turn>, MemoryError> {
        let found = self.read_tenant(tenant, |state, now| history::find(state, scope, limit, now));
        let rows = found.ok_or_else(|| unknown(tenant))?;
        Ok(rows.iter().map(|row| row.to_turn()).collect())
    }

    async fn clear(&self, tenant: &TenantId, scope: &ChannelScope) -> Result<(), MemoryError> {
        self.write_tenant(tenant, |state, _| clear::clear(&mut state.log, scope))
            .map(drop)
            .ok_or_else(|| unknown(tenant))
    }

    async fn usage(&self, tenant: &TenantId, user: UserId) -> Result<Usage, MemoryError> {
        self.read_tenant(tenant, |state, _| {
            let user = state.log_of(user);
            user.map_or_else(Usage::default, |user| user.usage)
        })
        .ok_or_else(|| unknown(tenant))
    }
}
