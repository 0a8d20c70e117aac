//! What can go wrong, phrased for the caller.

use throughline_domain::{MergeId, ReviewId, TenantId, UserId};

/// Why a call on identities was not done.
#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    /// No tenant has this name.
    #[error("there is no tenant {0}")]
    UnknownTenant(TenantId),
    /// No user of the tenant has this id, or they were erased (T-50).
    #[error("the tenant has no user {0}")]
    UnknownUser(UserId),
    /// The channel user was erased after what is stored of them now was said (T-37).
    #[error("the channel user was erased; what they said before must not come back")]
    Gone,
    /// Nobody claims the address.
    #[error("nobody claims this address")]
    UnknownClaim,
    /// Both ids belong to one person already (T-50), or the claim was revoked before.
    #[error("nothing is to be changed: it is so already")]
    NoChange,
    /// The tenant has no such merge; the merges of an erased person are gone too.
    #[error("the tenant has no merge {0}")]
    UnknownMerge(MergeId),
    /// The merge was undone before.
    #[error("the merge {0} was undone already")]
    AlreadyUndone(MergeId),
    /// The tenant has no such review; the reviews of an erased person are gone too.
    #[error("the tenant has no review {0}")]
    UnknownReview(ReviewId),
    /// The review was decided before.
    #[error("the review {0} was decided already")]
    AlreadyDecided(ReviewId),
    /// The store did not answer; a resolve may be repeated, it gives the same id.
    #[error("the store is not available")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// A stored row cannot be read back.
    #[error("{table}.{column} of {row} cannot be read")]
    Corrupt {
        /// The table.
        table: &'static str,
        /// The column.
        column: &'static str,
        /// The row's key, free of personal data.
        row: String,
    },
}
