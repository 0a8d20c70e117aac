//! What can go wrong, phrased for the caller.

use throughline_domain::{KeyId, TenantId};

use crate::InvalidConfig;

/// Why a call on tenants or keys was not done. Nothing was changed, except after `Unavailable`,
/// where the outcome is unknown.
#[derive(Debug, thiserror::Error)]
pub enum TenancyError {
    /// Another tenant has this name.
    #[error("tenant {0} exists already")]
    TenantExists(TenantId),
    /// No tenant has this name.
    #[error("there is no tenant {0}")]
    UnknownTenant(TenantId),
    /// The tenant has no such key.
    #[error("there is no key {0}")]
    UnknownKey(KeyId),
    /// A configuration value is out of range.
    #[error("the configuration is not usable")]
    InvalidConfig(#[from] InvalidConfig),
    /// Somebody changed the configuration in between.
    #[error("the configuration is at revision {current}; read it again and repeat the change")]
    StaleRevision {
        /// The revision in force.
        current: u64,
    },
    /// The store did not answer.
    #[error("the store is not available")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
}
