//! Who hears what became of a write: the metrics, the hot ring, the log. Never a user.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use throughline_conversation_memory::{
    Cause, ChannelScope, InvalidName, InvalidTurn, QueuedAppend, RejectReason,
};
use throughline_domain::{TenantId, Timestamp, TurnId, UserId};

use crate::hot::{Hot, Owner};
use crate::metrics::{HistoryMetrics, WriteFailure};

/// What the store said to a turn.
pub(crate) enum Outcome<'a> {
    Stored(TurnId, UserId),
    Committed(TurnId, &'a Cause),
    Refused(&'a (dyn Error + Send + Sync + 'static)),
    /// Nothing yet.
    Waits,
    Lost(WriteFailure, &'a (dyn Error + Send + Sync + 'static)),
}

pub(crate) struct Report {
    hot: Arc<Hot>,
    metrics: HistoryMetrics,
    /// So that an outage is one line in the log and not one a turn.
    away: AtomicBool,
}

impl Report {
    pub(crate) fn new(hot: Arc<Hot>, metrics: HistoryMetrics) -> Self {
        Self {
            hot,
            metrics,
            away: AtomicBool::new(false),
        }
    }

    /// `again`: the turn's failure was counted before.
    pub(crate) fn answered(
        &self,
        tenant: &TenantId,
        append: &QueuedAppend,
        outcome: &Outcome<'_>,
        again: bool,
    ) {
        match *outcome {
            Outcome::Stored(id, user) => self.stored(tenant, append, id, Some(user)),
            Outcome::Committed(id, cause) => {
                self.metrics.write_failed(WriteFailure::Committed);
                tracing::info!(
                    tenant.id = %tenant, turn.id = %id, error = cause as &dyn Error,
                    "a turn is stored, though the answer was lost"
                );
                self.stored(tenant, append, id, None);
            }
            Outcome::Refused(reason) => self.refused(tenant, reason),
            Outcome::Waits => {}
            Outcome::Lost(failure, cause) => {
                if !again {
                    self.metrics.write_failed(failure);
                }
                if !self.away.swap(true, Ordering::Relaxed) {
                    tracing::warn!(
                        tenant.id = %tenant, code = failure.code(), error = cause as &dyn Error,
                        "conversation memory does not take turns; they wait and are tried again"
                    );
                }
            }
        }
    }

    /// The turn could not be stored anywhere, whatever the store's state.
    pub(crate) fn invalid(&self, tenant: &TenantId, reason: &InvalidTurn) {
        self.refused(tenant, reason);
    }

    /// No store has a name for the turn's scope.
    pub(crate) fn unnamed(&self, tenant: &Owner, reason: &InvalidName) {
        if let Some(tenant) = tenant {
            self.refused(tenant, reason);
        }
    }

    /// Another turn waits under the turn's key (failures.md 2).
    pub(crate) fn conflict(&self, tenant: &TenantId) {
        self.refused(tenant, &RejectReason::IdempotencyMismatch);
    }

    fn stored(&self, tenant: &TenantId, append: &QueuedAppend, id: TurnId, user: Option<UserId>) {
        let turn = append.turn();
        self.hot
            .stored(tenant, turn.scope().id(), turn.key(), id, user);
        if self.away.swap(false, Ordering::Relaxed) {
            tracing::info!(tenant.id = %tenant, "conversation memory takes turns again");
        }
    }

    fn refused(&self, tenant: &TenantId, reason: &(dyn Error + Send + Sync + 'static)) {
        self.metrics.write_failed(WriteFailure::Rejected);
        tracing::warn!(
            tenant.id = %tenant, error = reason as &dyn Error,
            "conversation memory refused a turn; it stays in this process only"
        );
    }

    /// The store knows that the scope was cleared then.
    pub(crate) fn cleared(&self, tenant: &TenantId, scope: &ChannelScope, at: Timestamp) {
        self.hot.cleared(tenant, scope.id(), at);
    }
}

/// `again`: it was told of before.
pub(crate) fn clear_failed(tenant: &TenantId, error: &(dyn Error + 'static), again: bool) {
    if !again {
        tracing::warn!(
            tenant.id = %tenant, error,
            "a scope could not be cleared in conversation memory; it is tried again"
        );
    }
}
