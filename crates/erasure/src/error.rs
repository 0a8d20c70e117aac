//! What can go wrong, phrased for the caller.

use throughline_domain::{TenantId, UserId};

/// Why nobody was erased. Nothing was changed, except after `Unavailable`, where the outcome is
/// unknown: ask again, a second erasure is harmless.
#[derive(Debug, thiserror::Error)]
pub enum ErasureError {
    /// No tenant has this name.
    #[error("there is no tenant {0}")]
    UnknownTenant(TenantId),
    /// The tenant never had such a user.
    #[error("the tenant has no user {0}")]
    UnknownUser(UserId),
    /// The store did not answer.
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
