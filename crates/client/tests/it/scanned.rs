//! A memory whose turns were all looked through before they came, as the suites' own turns were: the scan
//! itself does not go over the wire, and how long one takes is not what the suites are about.

use std::sync::Arc;

use async_trait::async_trait;
use throughline_conversation_memory::{
    AppendError, Appended, ChannelScope, ConversationMemory, Limit, MemoryError, NewTurn,
    RecentPage, RecentQuery, Redaction, Turn, Usage,
};
use throughline_domain::{TenantId, UserId};
use throughline_provider_in_memory::InMemoryStore;

pub(crate) struct Scanned(pub(crate) Arc<InMemoryStore>);

#[async_trait]
impl ConversationMemory for Scanned {
    async fn append_batch(
        &self,
        tenant: &TenantId,
        turns: Vec<NewTurn>,
    ) -> Vec<Result<Appended, AppendError>> {
        let clean = |turn: NewTurn| turn.with_redaction(Redaction::clean(1));
        let turns = turns.into_iter().map(clean).collect();
        self.0.append_batch(tenant, turns).await
    }

    async fn recent(
        &self,
        tenant: &TenantId,
        user: UserId,
        query: &RecentQuery,
    ) -> Result<RecentPage, MemoryError> {
        self.0.recent(tenant, user, query).await
    }

    async fn history(
        &self,
        tenant: &TenantId,
        scope: &ChannelScope,
        limit: Limit,
    ) -> Result<Vec<Turn>, MemoryError> {
        self.0.history(tenant, scope, limit).await
    }

    async fn clear(&self, tenant: &TenantId, scope: &ChannelScope) -> Result<(), MemoryError> {
        self.0.clear(tenant, scope).await
    }

    async fn usage(&self, tenant: &TenantId, user: UserId) -> Result<Usage, MemoryError> {
        self.0.usage(tenant, user).await
    }
}
