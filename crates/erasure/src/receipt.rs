//! What an erasure did, in numbers.

use std::time::Duration;

use throughline_domain::UserId;

/// How long the key of an erased turn, and what waited for an erased channel user, stays refused: longer
/// than any retry (T-57).
pub const TOMBSTONE_LIFE: Duration = Duration::from_hours(14 * 24);

/// Whether to do it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Erase.
    Erase,
    /// Only count.
    Rehearse,
}

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A person, who is gone now; after a rehearsal, who would be.
    Erased,
    /// Nobody any more: they were erased before.
    NothingLeft,
}

/// Counts by store. Each row is counted once, however many ids of the person stand in it (T-65).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Turns.
    pub deleted_turns: u64,
    /// Their bytes, as they were counted for the user.
    pub deleted_bytes: u64,
    /// Appends that waited to be stored, dead letters too.
    pub deleted_outbox: u64,
    /// Appends that waited on the disk of the process that was asked. Those of other processes are
    /// refused when they come.
    pub deleted_spooled: u64,
    /// Keys of turns, stored ones and those that waited, that are refused from now on.
    pub tombstoned_keys: u64,
    /// Channel users for whom nothing that waited until now is stored any more.
    pub tombstoned_refs: u64,
    /// Clear marks of channel scopes where nobody else's turns are.
    pub deleted_clear_marks: u64,
    /// Channel users.
    pub deleted_identities: u64,
    /// Claims on e-mail addresses.
    pub deleted_claims: u64,
    /// Merges, undone ones too.
    pub deleted_merges: u64,
    /// Questions to an operator, answered ones too.
    pub deleted_reviews: u64,
    /// Audit entries of raw reads.
    pub deleted_audit_rows: u64,
    /// Audit entries that keep what was done and lost to whom.
    pub nullified_audit_rows: u64,
    /// Ids of the person that are barred for good, without anything beside them.
    pub barred_user_ids: u64,
}

/// The receipt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// What was found.
    pub outcome: Outcome,
    /// Every id of the person, sorted.
    pub user_ids: Vec<UserId>,
    /// What was deleted.
    pub counts: Counts,
    /// The tenant's epoch in force afterwards.
    pub erasure_epoch: u64,
}
