//! Where appends go that their store did not take.

use async_trait::async_trait;
use throughline_domain::TenantId;

use crate::{Cause, QueuedAppend};

/// A durable place for appends whose store is slow or away.
#[async_trait]
pub trait AppendQueue: Send + Sync {
    /// Keeps appends until they are stored, one answer each in the same order. `Ok` promises that the
    /// append is on disk and will be offered to the store, again and again, without anybody's help.
    async fn keep(&self, tenant: &TenantId, appends: Vec<QueuedAppend>)
    -> Vec<Result<(), NotKept>>;
}

/// Why an append is not queued.
#[derive(Debug, thiserror::Error)]
pub enum NotKept {
    /// No tenant has this name.
    #[error("there is no tenant {0}")]
    UnknownTenant(TenantId),
    /// Its user was deleted; it must not come back (T-37).
    #[error("the turn's user was deleted; it cannot be stored again")]
    Gone,
    /// The key waits with another turn.
    #[error("client_message_id was used for another turn; use a new one")]
    KeyConflict,
    /// It waits already, as a dead letter: nothing happens to it before an operator looks.
    #[error("the turn waits as a dead letter; an operator has to requeue or discard it")]
    DeadLetter,
    /// No place could be found for it.
    #[error("the turn could not be queued")]
    Unavailable {
        /// Whether it may be queued all the same, because an answer was lost.
        perhaps_kept: bool,
        /// What went wrong last.
        #[source]
        cause: Cause,
    },
}
