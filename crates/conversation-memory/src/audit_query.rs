//! Which entries of the trail to read.

use throughline_domain::{AuditId, Timestamp};

/// What can be in the trail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuditOp {
    /// Raw text was read.
    ReadRaw,
    /// A person was erased.
    ForgetUser,
    /// Two people became one.
    MergeIdentities,
    /// They became two again.
    UndoMerge,
    /// An address was taken out of joining.
    RevokeClaim,
}

impl AuditOp {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::ReadRaw,
        Self::ForgetUser,
        Self::MergeIdentities,
        Self::UndoMerge,
        Self::RevokeClaim,
    ];

    /// The word in SQL and JSON (R-110, `undo_merge` and `revoke_claim`).
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ReadRaw => "read_raw",
            Self::ForgetUser => "forget_user",
            Self::MergeIdentities => "merge_identities",
            Self::UndoMerge => "undo_merge",
            Self::RevokeClaim => "revoke_claim",
        }
    }

    /// Reads the word back.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|op| op.as_str() == word)
    }
}

/// Which entries, newest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuditQuery {
    /// Those of this operation only.
    pub op: Option<AuditOp>,
    /// Those from this moment on only.
    pub since: Option<Timestamp>,
    /// Those before this moment only.
    pub until: Option<Timestamp>,
    /// Those older than this one only: where the page before ended.
    pub before: Option<AuditId>,
    /// How many at most.
    pub limit: u32,
}

impl AuditQuery {
    /// The latest of all.
    pub fn latest(limit: u32) -> Self {
        Self {
            op: None,
            since: None,
            until: None,
            before: None,
            limit,
        }
    }
}
