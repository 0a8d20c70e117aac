//! The outbox: appends that the store could not take when they came, and dead letters.
//!
//! It lies in the same database as the turns, so it helps when an append fails while the database
//! answers: a lock, a statement that took too long, a full pool. It is no help in an outage (T-39);
//! that is what a spool on local disk is for.

mod settlement;

use std::fmt;

use async_trait::async_trait;
use throughline_domain::{OutboxId, TenantId, Timestamp, UserId, WorkerId};

use crate::{AuthorRef, Cause, ClientMessageId, QueuedAppend};

pub use settlement::{Fate, MAX_ATTEMPTS, Next, OutboxSettlement, Settled, retry_wait};

/// Appends that wait, per tenant.
#[async_trait]
pub trait Outbox: Send + Sync {
    /// Keeps an append until it is settled, durably. Idempotent by (tenant, key): the same append
    /// again is the same entry, another under the same key is [`OutboxError::KeyConflict`].
    async fn enqueue(
        &self,
        tenant: &TenantId,
        append: &QueuedAppend,
    ) -> Result<Enqueued, OutboxError>;

    /// Keeps an append as a dead letter: one that waited elsewhere and was refused. As idempotent as
    /// [`enqueue`](Self::enqueue); an entry that is here already stays as it is.
    async fn bury(
        &self,
        tenant: &TenantId,
        append: &QueuedAppend,
        reason: &str,
    ) -> Result<Enqueued, OutboxError>;

    /// Up to `limit` tenants that have something to do, in name order, those after `after` only.
    async fn tenants(
        &self,
        due: DueTenants,
        after: Option<&TenantId>,
        limit: u32,
    ) -> Result<Vec<TenantId>, OutboxError>;

    /// Takes due entries, oldest first. They are the worker's alone until the lease ends; entries that
    /// another worker holds are passed over and never waited for.
    async fn lease(
        &self,
        tenant: &TenantId,
        lease: OutboxLease,
    ) -> Result<Vec<Leased>, OutboxError>;

    /// Does to leased entries what became of them. One whose lease went to another worker, or that was
    /// deleted, is left alone and not counted.
    async fn settle(
        &self,
        tenant: &TenantId,
        worker: WorkerId,
        settlements: &[OutboxSettlement],
    ) -> Result<Settled, OutboxError>;

    /// Entries without their content, in the order they came.
    async fn list(
        &self,
        tenant: &TenantId,
        query: OutboxQuery,
    ) -> Result<Vec<OutboxEntry>, OutboxError>;

    /// Puts a dead letter back in line, due at once, with no attempt counted. `None` if the tenant has
    /// no dead letter of this id.
    async fn requeue(
        &self,
        tenant: &TenantId,
        id: OutboxId,
    ) -> Result<Option<OutboxEntry>, OutboxError>;

    /// Throws a dead letter away. `None` if the tenant has no dead letter of this id.
    async fn discard(
        &self,
        tenant: &TenantId,
        id: OutboxId,
    ) -> Result<Option<OutboxEntry>, OutboxError>;

    /// Deletes up to `limit` dead letters that died before this moment. Returns how many.
    async fn expire(
        &self,
        tenant: &TenantId,
        died_before: Timestamp,
        limit: u32,
    ) -> Result<u64, OutboxError>;

    /// Deletes everything of these users, and of these channel users where nobody was resolved (T-37).
    /// Returns how many.
    async fn forget(
        &self,
        tenant: &TenantId,
        users: &[UserId],
        channel_users: &[AuthorRef],
    ) -> Result<u64, OutboxError>;

    /// How much waits, over all tenants.
    async fn stats(&self) -> Result<OutboxStats, OutboxError>;
}

/// Which tenants to name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DueTenants {
    /// Those with entries that may be leased now.
    Append,
    /// Those with dead letters that died before this moment.
    Expire(Timestamp),
}

/// What became of an append that was handed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enqueued {
    /// It is new.
    New(OutboxId),
    /// It was here already and is in line.
    Again(OutboxId),
    /// It was here already as a dead letter: nothing happens to it before an operator looks.
    DeadLetter(OutboxId),
}

/// How entries are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutboxLease {
    /// By whom.
    pub worker: WorkerId,
    /// How many at most.
    pub limit: u32,
    /// For how long.
    pub lasts: std::time::Duration,
}

/// An entry that was taken.
#[derive(Clone, PartialEq, Eq)]
pub struct Leased {
    /// Its name.
    pub id: OutboxId,
    /// Failed attempts so far.
    pub attempts: u32,
    /// When it was put here.
    pub created_at: Timestamp,
    /// The append, as [`QueuedAppend::encode`] wrote it: it may be from another release.
    pub payload: String,
}

/// Without the payload.
impl fmt::Debug for Leased {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (id, attempts, bytes) = (self.id, self.attempts, self.payload.len());
        write!(f, "Leased({id}, {attempts} attempts, {bytes} bytes)")
    }
}

/// Whether an entry is in line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutboxState {
    /// It waits to be stored.
    Pending,
    /// It was refused, or failed too often.
    DeadLetter,
}

impl OutboxState {
    /// The word in SQL and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::DeadLetter => "dlq",
        }
    }

    /// Reads the word back.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Pending, Self::DeadLetter]
            .into_iter()
            .find(|state| state.as_str() == word)
    }
}

/// Which entries to list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutboxQuery {
    /// In which state.
    pub state: OutboxState,
    /// Those after this one only.
    pub after: Option<OutboxId>,
    /// How many at most.
    pub limit: u32,
}

/// An entry without its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboxEntry {
    /// Its name.
    pub id: OutboxId,
    /// The turn's key.
    pub key: ClientMessageId,
    /// Whose it is, when they were resolved.
    pub user: Option<UserId>,
    /// Whether it is in line.
    pub state: OutboxState,
    /// Failed attempts.
    pub attempts: u32,
    /// The code of the last failure.
    pub last_error: Option<String>,
    /// When it came.
    pub created_at: Timestamp,
    /// When it was tried last.
    pub last_attempt_at: Option<Timestamp>,
    /// When it is tried again; for a dead letter, when it would have been.
    pub next_attempt_at: Timestamp,
    /// When it died.
    pub died_at: Option<Timestamp>,
}

/// How much waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutboxStats {
    /// Entries in line.
    pub pending: u64,
    /// Dead letters.
    pub dead: u64,
    /// When the oldest entry in line came.
    pub oldest_pending: Option<Timestamp>,
    /// When the oldest dead letter died.
    pub oldest_dead: Option<Timestamp>,
}

/// Why a call on the outbox was not done.
#[derive(Debug, thiserror::Error)]
pub enum OutboxError {
    /// No tenant has this name.
    #[error("there is no tenant {0}")]
    UnknownTenant(TenantId),
    /// The key waits with another append.
    #[error("the key waits with another turn; use a new one")]
    KeyConflict(OutboxId),
    /// The append's user was deleted (T-37).
    #[error("the turn's user was deleted; it cannot be queued")]
    Gone,
    /// The tenant stores masked text only, and this text could not be looked through (T-30).
    #[error("the turn could not be looked through for personal data")]
    Unscanned,
    /// The store did not answer; whether the call took effect is not known.
    #[error("the store is not available")]
    Unavailable(#[source] Cause),
    /// A stored entry cannot be read back.
    #[error("{table}.{column} of {row} cannot be read")]
    Corrupt {
        /// The table.
        table: &'static str,
        /// The column.
        column: &'static str,
        /// The row's id.
        row: String,
    },
}
