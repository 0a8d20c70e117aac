//! What keeps the log within its rules: turns that have ended, caps, counters.

use std::time::Duration;

use async_trait::async_trait;
use throughline_domain::{TenantId, Timestamp, UserId};

use crate::{Cause, MemoryError};

/// How many rows one transaction deletes at most: 1..=10,000. A thousand keep appends fast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk(u32);

impl Chunk {
    /// The largest chunk.
    pub const MAX: u32 = 10_000;

    /// More than the largest is the largest; none is one.
    pub fn new(rows: u32) -> Self {
        Self(rows.clamp(1, Self::MAX))
    }

    /// The number of rows.
    pub fn get(self) -> u32 {
        self.0
    }
}

impl Default for Chunk {
    fn default() -> Self {
        Self(1_000)
    }
}

/// What is to be deleted, oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// Turns whose end has come.
    Ended,
    /// A user's turns beyond so many.
    Count {
        /// Whose.
        user: UserId,
        /// How many are kept.
        cap: u64,
    },
    /// The shortest run of a user's oldest turns without which the rest is within so many bytes
    ///
    Bytes {
        /// Whose.
        user: UserId,
        /// How many bytes are kept.
        cap: u64,
    },
    /// Audit entries older than this (R-113, T-67).
    Audit {
        /// How long they are kept.
        kept: Duration,
    },
    /// Tombstones that no retry can meet any more.
    Tombstones,
}

/// What one chunk did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Rows deleted.
    pub rows: u64,
    /// What they counted for in their users' bytes.
    pub bytes: u64,
    /// Whether there may be more.
    pub more: bool,
}

/// What is kept for one user at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caps {
    /// Turns.
    pub turns: u64,
    /// Bytes.
    pub bytes: u64,
}

/// Some users over a cap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OverCap {
    /// Who, in id order.
    pub users: Vec<(UserId, crate::Usage)>,
    /// Where to go on looking; `None` at the end.
    pub next: Option<UserId>,
}

/// The end that stored turns are to have (D-17).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Restamp {
    /// How long turns are kept now.
    pub ttl: Duration,
    /// Whether turns that end earlier by what was promised end later too. One that has ended stays so.
    pub extend: bool,
}

/// What one chunk of restamping did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Restamped {
    /// Turns whose end was moved.
    pub rows: u64,
    /// Whether there is more to look at.
    pub more: bool,
}

/// What a look at the counters of some users found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reconciled {
    /// Users looked at.
    pub users: u64,
    /// Those whose counters were wrong and are right now.
    pub drifted: u64,
    /// By how many turns the counters were off, added up without sign.
    pub turns_off: u64,
    /// By how many bytes.
    pub bytes_off: u64,
    /// Where to go on; `None` at the end.
    pub next: Option<UserId>,
}

/// What the store has been busy with since it was opened. Two looks give what happened in between.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Load {
    /// Appends that were written.
    pub appends: u64,
    /// How long they took together, in seconds.
    pub append_seconds: f64,
    /// How long callers waited for a connection together, in seconds.
    pub wait_seconds: f64,
}

/// Why a chunk was not done. Nothing of it was.
#[derive(Debug, thiserror::Error)]
pub enum RetentionError {
    /// A counter would have fallen below zero: it is wrong, and has to be reconciled first (T-71).
    #[error("a user's counters do not agree with their turns")]
    Drifted,
    /// No tenant, or no answer.
    #[error(transparent)]
    Memory(#[from] MemoryError),
}

impl RetentionError {
    /// The store did not answer.
    pub fn unavailable(cause: Cause) -> Self {
        Self::Memory(MemoryError::Unavailable(cause))
    }
}

/// Deleting by rule. Every method is one short transaction, so whoever calls may stop between any two.
#[async_trait]
pub trait Retention: Send + Sync {
    /// Deletes up to a chunk of what the pass is for, moves the counters by what was really deleted and
    /// leaves tombstones that refuse a late retry for `tombstone_life` (T-57). Two callers at once delete
    /// each row once.
    async fn sweep(
        &self,
        tenant: &TenantId,
        pass: Pass,
        chunk: Chunk,
        tombstone_life: Duration,
    ) -> Result<Swept, RetentionError>;

    /// What [`sweep`](Self::sweep) would delete if it went on to the end, counted up to a million;
    /// nothing is changed.
    async fn preview(&self, tenant: &TenantId, pass: Pass) -> Result<Swept, RetentionError>;

    /// Users over a cap by their counters, those after `after` only. A call looks at some thousand
    /// users, so it may find none and still have a next.
    async fn over_cap(
        &self,
        tenant: &TenantId,
        caps: Caps,
        after: Option<UserId>,
    ) -> Result<OverCap, RetentionError>;

    /// Brings the ends of up to a chunk of turns in line with the rule, going on where the last call
    /// for this rule stopped. Once a rule was carried through, asking again costs one look.
    async fn restamp(
        &self,
        tenant: &TenantId,
        rule: Restamp,
        chunk: Chunk,
    ) -> Result<Restamped, RetentionError>;

    /// Compares the counters of up to `users` users with their turns, and mends them.
    async fn reconcile(
        &self,
        tenant: &TenantId,
        after: Option<UserId>,
        users: u32,
    ) -> Result<Reconciled, RetentionError>;

    /// When the turn ended that has been waiting longest to be swept, over all tenants.
    async fn oldest_ended(&self) -> Result<Option<Timestamp>, RetentionError>;

    /// What the store has been busy with; a sweep makes room by it.
    fn load(&self) -> Load {
        Load::default()
    }
}
