//! What an operator sets for one tenant.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A tenant's rules. Stored as JSON; a key that no release knows is refused when written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TenantConfig {
    /// Days a turn can be read after its `created_at`, 1..=3650.
    pub ttl_days: u32,
    /// When turns are looked through for personal data, and what of them is stored.
    pub redaction_mode: RedactionMode,
    /// What a masked place looks like to a reader.
    pub mask_style: MaskLook,
}

/// When turns are looked through for personal data, and what of them is stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RedactionMode {
    /// Before they are stored; the text is kept, readers get masks.
    #[default]
    Inline,
    /// By a job afterwards; until then no default reader sees them.
    Deferred,
    /// Before they are stored; only masked text is kept.
    Persist,
}

/// What a masked place looks like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MaskLook {
    /// `[EMAIL]`.
    #[default]
    Label,
    /// As many `*` as there were bytes.
    SameLength,
    /// `[EMAIL_1]`, `[EMAIL_2]`: two values of one turn stay apart.
    Numbered,
}

impl Default for TenantConfig {
    fn default() -> Self {
        Self {
            ttl_days: 90,
            redaction_mode: RedactionMode::default(),
            mask_style: MaskLook::default(),
        }
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
