//! The outbox that callers hold: where only masked text may be stored, only masked text waits.

use std::sync::Arc;

use async_trait::async_trait;
use throughline_conversation_memory::{
    AuthorRef, Cause, DueTenants, Enqueued, Leased, Outbox, OutboxEntry, OutboxError, OutboxLease,
    OutboxQuery, OutboxSettlement, OutboxStats, QueuedAppend, RedactionState, Settled,
};
use throughline_domain::{OutboxId, TenantId, Timestamp, UserId, WorkerId};
use throughline_tenancy::RedactionMode;

use crate::rules::TenantRules;
use crate::scan::Scanner;

/// Masks an append before it is queued, in the tenants that keep masked text only (T-30). In the other
/// modes the text waits as it will be stored, and is scanned when it is.
pub struct RedactedOutbox {
    inner: Arc<dyn Outbox>,
    rules: Arc<dyn TenantRules>,
    scanner: Scanner,
}

impl RedactedOutbox {
    pub(crate) fn new(
        inner: Arc<dyn Outbox>,
        rules: Arc<dyn TenantRules>,
        scanner: Scanner,
    ) -> Self {
        Self {
            inner,
            rules,
            scanner,
        }
    }

    /// The append in the form that may lie in the store. A text that cannot be looked through now is
    /// refused: it may wait somewhere sealed, not here.
    async fn storable(
        &self,
        tenant: &TenantId,
        append: &QueuedAppend,
    ) -> Result<QueuedAppend, OutboxError> {
        let rules = self.rules.rules(tenant).await;
        let rules = rules.map_err(|cause| OutboxError::Unavailable(Cause::new(cause)))?;
        let rules = rules.ok_or_else(|| OutboxError::UnknownTenant(tenant.clone()))?;
        if rules.mode != RedactionMode::Persist {
            return Ok(append.clone());
        }
        let turns = vec![append.turn().clone()];
        let mut masked = self.scanner.masked(turns, rules.masks.clone()).await;
        masked
            .pop()
            .filter(|turn| turn.redaction().state() != RedactionState::Pending)
            .map(|turn| append.clone().with_turn(turn))
            .ok_or(OutboxError::Unscanned)
    }
}

#[async_trait]
impl Outbox for RedactedOutbox {
    async fn enqueue(
        &self,
        tenant: &TenantId,
        append: &QueuedAppend,
    ) -> Result<Enqueued, OutboxError> {
        let append = self.storable(tenant, append).await?;
        self.inner.enqueue(tenant, &append).await
    }

    async fn bury(
        &self,
        tenant: &TenantId,
        append: &QueuedAppend,
        reason: &str,
    ) -> Result<Enqueued, OutboxError> {
        let append = self.storable(tenant, append).await?;
        self.inner.bury(tenant, &append, reason).await
    }

    async fn tenants(
        &self,
        due: DueTenants,
        after: Option<&TenantId>,
        limit: u32,
    ) -> Result<Vec<TenantId>, OutboxError> {
        self.inner.tenants(due, after, limit).await
    }

    async fn lease(
        &self,
        tenant: &TenantId,
        lease: OutboxLease,
    ) -> Result<Vec<Leased>, OutboxError> {
        self.inner.lease(tenant, lease).await
    }

    async fn settle(
        &self,
        tenant: &TenantId,
        worker: WorkerId,
        settlements: &[OutboxSettlement],
    ) -> Result<Settled, OutboxError> {
        self.inner.settle(tenant, worker, settlements).await
    }

    async fn list(
        &self,
        tenant: &TenantId,
        query: OutboxQuery,
    ) -> Result<Vec<OutboxEntry>, OutboxError> {
        self.inner.list(tenant, query).await
    }

    async fn requeue(
        &self,
        tenant: &TenantId,
        id: OutboxId,
    ) -> Result<Option<OutboxEntry>, OutboxError> {
        self.inner.requeue(tenant, id).await
    }

    async fn discard(
        &self,
        tenant: &TenantId,
        id: OutboxId,
    ) -> Result<Option<OutboxEntry>, OutboxError> {
        self.inner.discard(tenant, id).await
    }

    async fn expire(
        &self,
        tenant: &TenantId,
        died_before: Timestamp,
        limit: u32,
    ) -> Result<u64, OutboxError> {
        self.inner.expire(tenant, died_before, limit).await
    }

    async fn forget(
        &self,
        tenant: &TenantId,
        users: &[UserId],
        channel_users: &[AuthorRef],
    ) -> Result<u64, OutboxError> {
        self.inner.forget(tenant, users, channel_users).await
    }

    async fn stats(&self) -> Result<OutboxStats, OutboxError> {
        self.inner.stats().await
    }
}
