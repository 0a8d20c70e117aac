//! One tenant.

use throughline_domain::{TenantId, Timestamp};

use crate::TenantConfig;

/// Whether a tenant's keys are honoured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TenantStatus {
    /// Calls are served.
    Active,
    /// Every call with a key of the tenant is refused; nothing is deleted.
    Suspended,
}

impl TenantStatus {
    /// The word in SQL and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Suspended => "suspended",
        }
    }

    /// Reads the word back.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Active, Self::Suspended]
            .into_iter()
            .find(|status| status.as_str() == word)
    }
}

/// A tenant as an operator sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tenant {
    /// Its name.
    pub id: TenantId,
    /// Whether it is served.
    pub status: TenantStatus,
    /// Its rules.
    pub config: TenantConfig,
    /// Raised by one with every change of the rules, from 1.
    pub config_revision: u64,
    /// Raised by every erasure; clients drop caches when it jumps.
    pub erasure_epoch: u64,
    /// When it was made.
    pub created_at: Timestamp,
}
