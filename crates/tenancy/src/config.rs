//! What an operator sets for one tenant.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use throughline_domain::PlatformKind;

use crate::Cron;

/// The most that one turn can hold in all its fields: 256 KiB + 1 MiB + 512 KiB + 16 KiB (T-59). A
/// byte cap below it would let one turn push everything out, itself included (T-74).
pub const MAX_TURN_BYTES: u64 = (256 + 1024 + 512 + 16) * 1024;

/// A tenant's rules. Stored as JSON; a key that no release knows is refused when written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TenantConfig {
    /// Days a turn can be read after its `created_at`, 1..=3650 (R-140).
    pub ttl_days: u32,
    /// Whether a longer `ttl_days` is for stored turns as well. A turn that has ended stays ended
    /// (D-17).
    pub extend_existing: bool,
    /// Turns kept for one user, 1..=10,000,000; the oldest go first.
    pub turn_cap: u64,
    /// Bytes kept for one user, from [`MAX_TURN_BYTES`] to a terabyte; the oldest turns go first.
    pub byte_cap: u64,
    /// Days an audit entry is kept, 1..=3650 (R-113).
    pub audit_retention_days: u32,
    /// Days a dead letter is kept, 1..=14, and never longer than a turn is (T-37).
    pub dlq_retention_days: u32,
    /// When this tenant is swept, instead of at the service's own time: five cron fields, UTC.
    pub gc_cron: Option<String>,
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
            extend_existing: false,
            turn_cap: 10_000,
            byte_cap: 50_000_000,
            audit_retention_days: 365,
            dlq_retention_days: 14,
            gc_cron: None,
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
        let ranges = [
            (
                "/ttl_days",
                u64::from(self.ttl_days),
                1,
                3650,
                "from 1 to 3650",
            ),
            (
                "/turn_cap",
                self.turn_cap,
                1,
                10_000_000,
                "from 1 to 10000000",
            ),
            (
                "/byte_cap",
                self.byte_cap,
                MAX_TURN_BYTES,
                1_000_000_000_000,
                "from 1851392 (the most one turn can hold) to 1000000000000",
            ),
            (
                "/audit_retention_days",
                u64::from(self.audit_retention_days),
                1,
                3650,
                "from 1 to 3650",
            ),
            (
                "/dlq_retention_days",
                u64::from(self.dlq_retention_days),
                1,
                14,
                "from 1 to 14",
            ),
        ];
        for (path, value, least, most, expected) in ranges {
            if !(least..=most).contains(&value) {
                return Err(InvalidConfig { path, expected });
            }
        }
        if let Some(text) = &self.gc_cron
            && Cron::parse(text).is_err()
        {
            return Err(InvalidConfig {
                path: "/gc_cron",
                expected: "five cron fields in UTC, such as \"0 4 * * *\", or null",
            });
        }
        Ok(())
    }

    /// How long a turn can be read.
    pub fn ttl(&self) -> Duration {
        days(self.ttl_days)
    }

    /// How long an audit entry is kept.
    pub fn audit_retention(&self) -> Duration {
        days(self.audit_retention_days)
    }

    /// How long a dead letter is kept: never longer than the turn in it would have been (T-37).
    pub fn dlq_retention(&self) -> Duration {
        days(self.dlq_retention_days.min(self.ttl_days))
    }

    /// For how long a retry of a deleted turn must be recognised (T-57).
    pub fn tombstone_life(&self) -> Duration {
        self.dlq_retention().max(days(7))
    }

    /// Whether addresses join people by these rules that did not by those: then claims are made for
    /// whoever verified one earlier (D-06).
    pub fn claims_more_than(&self, before: &Self) -> bool {
        let trusted =
            |kind| before.auto_merge_on_email && before.verified_email_kinds.contains(kind);
        self.auto_merge_on_email && !self.verified_email_kinds.iter().all(trusted)
    }

    /// How long an unconfirmed address keeps joining people.
    pub fn email_claim_ttl(&self) -> Duration {
        days(self.email_claim_ttl_days)
    }

    /// When this tenant wants to be swept, if it says so.
    pub fn gc_schedule(&self) -> Option<Cron> {
        Cron::parse(self.gc_cron.as_deref()?).ok()
    }
}

fn days(days: u32) -> Duration {
    Duration::from_hours(u64::from(days) * 24)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(change: impl FnOnce(&mut TenantConfig)) -> Option<&'static str> {
        let mut config = TenantConfig::default();
        change(&mut config);
        config.validate().err().map(|fault| fault.path)
    }

    // R-113, R-140, T-74
    #[test]
    fn every_value_has_a_range_and_its_edge_is_inside() {
        assert_eq!(fault(|_| ()), None);
        assert_eq!(fault(|c| c.ttl_days = 0), Some("/ttl_days"));
        assert_eq!(fault(|c| c.ttl_days = 3651), Some("/ttl_days"));
        assert_eq!(fault(|c| c.turn_cap = 0), Some("/turn_cap"));
        assert_eq!(fault(|c| c.turn_cap = 1), None);
        assert_eq!(
            fault(|c| c.byte_cap = MAX_TURN_BYTES - 1),
            Some("/byte_cap")
        );
        assert_eq!(fault(|c| c.byte_cap = MAX_TURN_BYTES), None);
        assert_eq!(
            fault(|c| c.audit_retention_days = 0),
            Some("/audit_retention_days")
        );
        assert_eq!(
            fault(|c| c.dlq_retention_days = 15),
            Some("/dlq_retention_days")
        );
        assert_eq!(
            fault(|c| c.gc_cron = Some("0 0 4 * * *".to_owned())),
            Some("/gc_cron")
        );
        assert_eq!(fault(|c| c.gc_cron = Some("0 4 * * *".to_owned())), None);
    }

    #[test]
    fn the_least_byte_cap_is_said_as_it_is() {
        let fault = TenantConfig {
            byte_cap: 1,
            ..TenantConfig::default()
        }
        .validate();
        let said = fault.unwrap_err().to_string();
        assert!(said.contains(&MAX_TURN_BYTES.to_string()), "{said}");
    }

    #[test]
    fn rules_written_by_an_earlier_release_are_read_with_defaults() {
        let read: TenantConfig = serde_json::from_str(r#"{"ttl_days": 7}"#).unwrap();
        assert_eq!(
            read,
            TenantConfig {
                ttl_days: 7,
                ..TenantConfig::default()
            }
        );
        assert!(serde_json::from_str::<TenantConfig>(r#"{"ttl_day": 7}"#).is_err());
    }

    #[test]
    fn a_dead_letter_goes_before_its_turn_would_and_a_tombstone_outlives_it() {
        let short = TenantConfig {
            ttl_days: 3,
            ..TenantConfig::default()
        };
        assert_eq!(short.dlq_retention(), days(3));
        assert_eq!(short.tombstone_life(), days(7));
        assert_eq!(TenantConfig::default().tombstone_life(), days(14));
    }

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
