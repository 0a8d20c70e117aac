//! The memory that callers hold.

use std::sync::Arc;

use async_trait::async_trait;
use prometheus::Registry;
use throughline_conversation_memory::{
    AppendError, Appended, Cause, ChannelScope, ConversationMemory, Freshness, Limit, MemoryError,
    NewTurn, Outbox, ReadVersion, RecentPage, RecentQuery, Redaction, RedactionQueue,
    RedactionState, RejectReason, Seen, Settlement, Turn, Usage,
};
use throughline_domain::{Clock, Ids, TenantId, UserId};
use throughline_redaction::InvalidSpans;
use throughline_tenancy::{RedactionMode, Tenancy};

use crate::mask::masked;
use crate::outbox::RedactedOutbox;
use crate::rules::{Configured, Rules, TenantRules};
use crate::scan::Scanner;

/// Scans before it stores, masks before it answers.
pub struct RedactedMemory {
    inner: Arc<dyn ConversationMemory>,
    rules: Arc<dyn TenantRules>,
    scanner: Scanner,
    queue: Option<Arc<dyn RedactionQueue>>,
}

impl RedactedMemory {
    /// Over a store, with the rules of the tenants' configuration. `mask_key` is any secret of this
    /// process: see [`throughline_redaction::MaskStyle::Numbered`].
    pub fn new(
        inner: Arc<dyn ConversationMemory>,
        tenancy: Arc<dyn Tenancy>,
        scanner: Scanner,
        mask_key: [u8; 32],
    ) -> Self {
        Self {
            inner,
            rules: Arc::new(Configured::new(tenancy, mask_key)),
            scanner,
            queue: None,
        }
    }

    /// The same, sending turns whose findings do not fit them back to wait in that queue.
    #[must_use]
    pub fn sending_back(mut self, queue: Arc<dyn RedactionQueue>) -> Self {
        self.queue = Some(queue);
        self
    }

    /// Over a store, with the built-in detector: what a process that has one store wants.
    pub fn built_in(
        inner: Arc<dyn ConversationMemory>,
        tenancy: Arc<dyn Tenancy>,
        clock: Arc<dyn Clock>,
        ids: &dyn Ids,
        registry: &Registry,
    ) -> Result<Self, prometheus::Error> {
        let scanner = Scanner::built_in(clock, registry)?;
        Ok(Self::new(inner, tenancy, scanner, ids.secret()))
    }

    /// The outbox beside this memory, by the same rules.
    pub fn outbox(&self, inner: Arc<dyn Outbox>) -> RedactedOutbox {
        RedactedOutbox::new(inner, Arc::clone(&self.rules), self.scanner.clone())
    }

    async fn rules_for_reading(&self, tenant: &TenantId) -> Result<Arc<Rules>, MemoryError> {
        let rules = self
            .rules
            .rules(tenant)
            .await
            .map_err(MemoryError::Unavailable)?;
        rules.ok_or_else(|| MemoryError::UnknownTenant(tenant.clone()))
    }

    /// The turns that fit their findings, masked, and how many did not.
    async fn mask(&self, tenant: &TenantId, turns: Vec<Turn>, rules: &Rules) -> (Vec<Turn>, u32) {
        let mut shown = Vec::with_capacity(turns.len());
        let mut unfit = Vec::new();
        for turn in turns {
            let back = sent_back(&turn);
            match masked(turn, &rules.masks) {
                Ok(turn) => shown.push(turn),
                Err(InvalidSpans) => unfit.push(back),
            }
        }
        let left_out = unfit.len();
        if left_out > 0 {
            self.scanner.metrics().unreadable(left_out);
            self.send_back(tenant, unfit).await;
        }
        (shown, u32::try_from(left_out).unwrap_or(u32::MAX))
    }

    /// What does not fit counts as pending (T-33), so it is made pending: the job scans it again. The
    /// read does not depend on it.
    async fn send_back(&self, tenant: &TenantId, unfit: Vec<Settlement>) {
        let Some(queue) = &self.queue else { return };
        if let Err(error) = queue.settle(tenant, &unfit).await {
            let error: &(dyn std::error::Error + 'static) = &error;
            tracing::warn!(tenant.id = %tenant, error, "turns could not be sent back to be scanned");
        }
    }

    /// Masked texts are the only ones that may be stored: a turn that could not be scanned is
    /// answered as not stored, to be sent again (T-30).
    async fn persist(
        &self,
        tenant: &TenantId,
        turns: Vec<NewTurn>,
        rules: &Rules,
    ) -> Vec<Result<Appended, AppendError>> {
        let scanned = self.scanner.masked(turns, rules.masks.clone()).await;
        let unscanned = |turn: &NewTurn| turn.redaction().state() == RedactionState::Pending;
        let refused: Vec<Option<AppendError>> = scanned
            .iter()
            .map(|turn| {
                unscanned(turn).then(|| AppendError::Transport {
                    key: turn.key().clone(),
                    cause: Cause::text("the turn could not be looked through for personal data"),
                })
            })
            .collect();
        let storable = scanned
            .into_iter()
            .filter(|turn| !unscanned(turn))
            .collect();
        let mut answers = self.inner.append_batch(tenant, storable).await.into_iter();
        refused
            .into_iter()
            .filter_map(|refusal| match refusal {
                Some(error) => Some(Err(error)),
                None => answers.next(),
            })
            .collect()
    }
}

#[async_trait]
impl ConversationMemory for RedactedMemory {
    async fn append_batch(
        &self,
        tenant: &TenantId,
        turns: Vec<NewTurn>,
    ) -> Vec<Result<Appended, AppendError>> {
        let rules = match self.rules.rules(tenant).await {
            Ok(Some(rules)) => rules,
            Ok(None) => return refused(&turns, tenant),
            Err(cause) => return unreached(&turns, &cause),
        };
        match rules.mode {
            RedactionMode::Inline => {
                let turns = self.scanner.marked(turns).await;
                self.inner.append_batch(tenant, turns).await
            }
            RedactionMode::Deferred => self.inner.append_batch(tenant, turns).await,
            RedactionMode::Persist => self.persist(tenant, turns, &rules).await,
        }
    }

    async fn recent(
        &self,
        tenant: &TenantId,
        user: UserId,
        query: &RecentQuery,
    ) -> Result<RecentPage, MemoryError> {
        let rules = self.rules_for_reading(tenant).await?;
        let page = self.inner.recent(tenant, user, query).await?;
        let (turns, left_out) = self.mask(tenant, page.turns, &rules).await;
        let pending_excluded = page.pending_excluded.saturating_add(left_out);
        // Masks are worn by the rules of this moment; what could not be masked may be masked later.
        let masked_by = |fresh: &Freshness| left_out == 0 && fresh.version.rules == rules.revision;
        Ok(RecentPage {
            turns,
            next: page.next,
            pending_excluded,
            fresh: page.fresh.filter(masked_by),
        })
    }

    async fn read_version(
        &self,
        tenant: &TenantId,
        user: UserId,
    ) -> Result<Option<ReadVersion>, MemoryError> {
        self.inner.read_version(tenant, user).await
    }

    async fn history(
        &self,
        tenant: &TenantId,
        scope: &ChannelScope,
        limit: Limit,
    ) -> Result<Vec<Turn>, MemoryError> {
        let rules = self.rules_for_reading(tenant).await?;
        let turns = self.inner.history(tenant, scope, limit).await?;
        Ok(self.mask(tenant, turns, &rules).await.0)
    }

    async fn clear(&self, tenant: &TenantId, scope: &ChannelScope) -> Result<(), MemoryError> {
        self.inner.clear(tenant, scope).await
    }

    async fn usage(&self, tenant: &TenantId, user: UserId) -> Result<Usage, MemoryError> {
        self.inner.usage(tenant, user).await
    }
}

fn sent_back(turn: &Turn) -> Settlement {
    Settlement {
        turn: turn.id,
        seen: Seen {
            state: turn.redaction.state(),
            detector_version: turn.redaction.detector_version(),
            failures: 0,
        },
        redaction: Redaction::pending(),
        failures: 0,
    }
}

fn refused(turns: &[NewTurn], tenant: &TenantId) -> Vec<Result<Appended, AppendError>> {
    let reason = RejectReason::UnknownTenant(tenant.clone());
    let answer = |turn: &NewTurn| AppendError::Rejected {
        key: turn.key().clone(),
        reason: reason.clone(),
    };
    turns.iter().map(|turn| Err(answer(turn))).collect()
}

fn unreached(turns: &[NewTurn], cause: &Cause) -> Vec<Result<Appended, AppendError>> {
    let cause = cause.to_string();
    let answer = |turn: &NewTurn| AppendError::Transport {
        key: turn.key().clone(),
        cause: Cause::new(cause.clone()),
    };
    turns.iter().map(|turn| Err(answer(turn))).collect()
}
