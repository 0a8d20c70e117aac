//! What an operator sets for one tenant.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use throughline_domain::PlatformKind;

/// A tenant's rules. Stored as JSON; a key that no release knows is refused when written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TenantConfig {
    /// Days a turn can be read after its `created_at`, 1..=3650 (R-140).
    pub ttl_days: u32,
    /// Whether an address verified on both sides makes two channel users one person (R-042).
    pub auto_merge_on_email: bool,
    /// The channels whose word that an address is verified counts (R-044); of any other it never does.
    pub verified_email_kinds: Vec<PlatformKind>,
    /// Days after which an unconfirmed address joins nobody any more, 1..=3650 (D-07).
    pub email_claim_ttl_days: u32,
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
            auto_merge_on_email: false,
            verified_email_kinds: vec![PlatformKind::TeamsAad],
            email_claim_ttl_days: 60,
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
        let days = |path, days: u32| {
            let expected = "from 1 to 3650";
            let valid = (1..=3650).contains(&days);
            valid.then_some(()).ok_or(InvalidConfig { path, expected })
        };
        days("/ttl_days", self.ttl_days)?;
        days("/email_claim_ttl_days", self.email_claim_ttl_days)
    }

    /// How long a turn can be read.
    pub fn ttl(&self) -> Duration {
        Duration::from_hours(u64::from(self.ttl_days) * 24)
    }

    /// How long an unconfirmed address keeps joining people.
    pub fn email_claim_ttl(&self) -> Duration {
        Duration::from_hours(u64::from(self.email_claim_ttl_days) * 24)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // R-042, R-044: nobody is joined until an operator says so, and then by Teams' word alone.
    #[test]
    fn a_tenant_that_says_nothing_joins_nobody() {
        let config: TenantConfig = serde_json::from_str("{}").unwrap();
        assert_eq!(config, TenantConfig::default());
        assert!(!config.auto_merge_on_email);
        assert_eq!(config.verified_email_kinds, [PlatformKind::TeamsAad]);
    }

    #[test]
    fn an_unknown_kind_or_key_is_refused() {
        for text in [
            r#"{"verified_email_kinds":["teams"]}"#,
            r#"{"auto_merge":true}"#,
            r#"{"auto_merge_on_email":"true"}"#,
        ] {
            assert!(
                serde_json::from_str::<TenantConfig>(text).is_err(),
                "{text}"
            );
        }
    }

    #[test]
    fn the_first_value_out_of_range_is_named() {
        let config = TenantConfig {
            email_claim_ttl_days: 0,
            ..TenantConfig::default()
        };
        assert_eq!(config.validate().unwrap_err().path, "/email_claim_ttl_days");
    }
}
