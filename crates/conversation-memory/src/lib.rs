//! The append-only log of finished turns, per tenant and user, across channels.
//!
//! Belongs here: the [`ConversationMemory`] trait, its types, limits and errors, what one turn must
//! look like, the context block made from turns, the contract suite (feature `contract`). Does not
//! belong here: a store, HTTP, who a channel's user is.

mod append;
mod audit;
mod audit_query;
mod channel;
mod context;
mod digest;
mod error;
mod key;
mod lease;
mod limits;
mod new_turn;
mod outbox;
mod queue;
mod queued_append;
mod raw_reads;
mod read;
mod redaction;
mod redaction_queue;
mod retention;
mod stored_append;
mod turn;

#[cfg(feature = "contract")]
pub mod contract;

use async_trait::async_trait;
use throughline_domain::{TenantId, UserId};

pub use append::{AppendOutcome, Appended, Landing, landing_time};
pub use audit::{
    Audit, AuditDetail, AuditEvent, ForgetUser, MergeIdentities, ReadRaw, RevokeClaim, UndoMerge,
};
pub use audit_query::{AuditOp, AuditQuery};
pub use channel::{CanvasSessionId, ChannelKind, ChannelScope, InvalidName};
pub use context::{CONTEXT_BLOCK_BYTES, ContextBlock, context_block};
pub use digest::RequestDigest;
pub use error::{AppendError, Cause, InvalidTurn, MemoryError, RejectReason};
pub use key::{ClientMessageId, InvalidKey};
pub use lease::{Lease, LeaseOwner, Leases};
pub use limits::{
    BATCH_TURNS, JSON_DEPTH, MAX_ASSISTANT_ANSWER_BYTES, MAX_METADATA_BYTES, MAX_TOOL_CALLS_BYTES,
    MAX_USER_MESSAGE_BYTES,
};
pub use new_turn::{NewTurn, TurnDraft};
pub use outbox::{
    DueTenants, Enqueued, Fate, Leased, MAX_ATTEMPTS, Next, Outbox, OutboxEntry, OutboxError,
    OutboxLease, OutboxQuery, OutboxSettlement, OutboxState, OutboxStats, Settled, retry_wait,
};
pub use queue::{AppendQueue, NotKept};
pub use queued_append::{QueuedAppend, QueuedAuthor};
pub use raw_reads::RawReads;
pub use read::{Freshness, Limit, Position, ReadVersion, RecentPage, RecentQuery, Usage};
pub use redaction::{ContentForm, MaskedContent, Redaction};
pub use redaction_queue::{Backlog, Due, RedactionQueue, Seen, Settlement};
pub use retention::{
    Caps, Chunk, Load, OverCap, Pass, Reconciled, Restamp, Restamped, Retention, RetentionError,
    Swept,
};
pub use stored_append::Unreadable;
pub use throughline_domain::AuthorRef;
pub use turn::{RedactionState, Turn};

/// The capability `crossChannelConversationMemory@1`.
#[async_trait]
pub trait ConversationMemory: Send + Sync {
    /// Appends one finished turn: a batch of one.
    async fn append(&self, tenant: &TenantId, turn: NewTurn) -> Result<Appended, AppendError> {
        let key = turn.key().clone();
        let mut answers = self.append_batch(tenant, vec![turn]).await;
        answers.pop().unwrap_or_else(|| {
            Err(AppendError::Timeout {
                key,
                cause: Cause::text("the store gave no answer"),
            })
        })
    }

    /// Appends finished turns, one answer per turn in the same order; one refused turn costs only
    /// itself. What is stored is stored durably before the answer.
    ///
    /// Idempotent by (tenant, key): the same turn again is [`AppendOutcome::Duplicate`] with the
    /// first id and changes nothing, also when the tenant keeps turns for less time than the retry
    /// took; another turn under the same key is refused (T-13). Turns of one call get ascending `seq`
    /// in the order given. The user's counters move in the same transaction.
    async fn append_batch(
        &self,
        tenant: &TenantId,
        turns: Vec<NewTurn>,
    ) -> Vec<Result<Appended, AppendError>>;

    /// A user's turns across all channels, newest first by (`created_at`, `seq`); expired and pending
    /// turns are never among them. A turn can be read while now is before both the end it was stored
    /// with and `created_at` plus the tenant's present retention: a shorter retention hides old turns
    /// at once, a longer one brings none back. An unknown user reads as empty.
    async fn recent(
        &self,
        tenant: &TenantId,
        user: UserId,
        query: &RecentQuery,
    ) -> Result<RecentPage, MemoryError>;

    /// What a remembered page of [`recent`](Self::recent) is compared with: as exact as a read, and far
    /// cheaper. `None` for an unknown user or tenant, and where a provider has none: then it is read.
    async fn read_version(
        &self,
        tenant: &TenantId,
        user: UserId,
    ) -> Result<Option<ReadVersion>, MemoryError> {
        let _ = (tenant, user);
        Ok(None)
    }

    /// The latest turns of one channel scope, whoever wrote them, oldest first; those before the last
    /// [`clear`](Self::clear) are left out.
    async fn history(
        &self,
        tenant: &TenantId,
        scope: &ChannelScope,
        limit: Limit,
    ) -> Result<Vec<Turn>, MemoryError>;

    /// Sets the scope's watermark: later [`history`](Self::history) starts after the turns stored by
    /// now. Nothing is deleted, and a user's [`recent`](Self::recent) is not affected.
    async fn clear(&self, tenant: &TenantId, scope: &ChannelScope) -> Result<(), MemoryError>;

    /// How much is stored for a user; zero for an unknown one. Read from counters, never by a scan.
    async fn usage(&self, tenant: &TenantId, user: UserId) -> Result<Usage, MemoryError>;
}
