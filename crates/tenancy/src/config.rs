//! What an operator sets for one tenant.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A tenant's rules. Stored as JSON; a key that no release knows is refused when written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TenantConfig {
    /// Days a turn can be read after its `created_at`, 1..=3650.
    pub ttl_days: u32,
}

impl Default for TenantConfig {
    fn default() -> Self {
        Self { ttl_days: 90 }
    }
}

/// A value outside its range.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path} must be {expected}")]
pub struct InvalidConfig {
    /// Where, as a JSON pointer.
    pub path: &'static str,
    /// What is accepted.
    pub expected: &'static str,
}

impl TenantConfig {
    /// Checks every range; the first fault is named.
    pub fn validate(&self) -> Result<(), InvalidConfig> {
        if !(1..=3650).contains(&self.ttl_days) {
            return Err(InvalidConfig {
                path: "/ttl_days",
                expected: "from 1 to 3650",
            });
        }
        Ok(())
    }

    /// How long a turn can be read.
    pub fn ttl(&self) -> Duration {
        Duration::from_hours(u64::from(self.ttl_days) * 24)
    }
}
