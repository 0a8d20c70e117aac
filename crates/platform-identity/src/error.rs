//! What can go wrong, phrased for the caller.

use throughline_domain::TenantId;

/// Why a call on identities was not done.
#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    /// No tenant has this name.
    #[error("there is no tenant {0}")]
    UnknownTenant(TenantId),
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
