//! The counters that appends share, however they came: over HTTP, or out of a queue later.

use prometheus::{IntCounterVec, Registry};
use throughline_platform_identity::PlatformKind;

use crate::counters::{OTHER, family};

/// Channel kinds without a platform's user ids.
const OTHER_CHANNELS: [&str; 3] = ["canvas", "desktop", "web"];
const STAGES: [&str; 2] = ["sync", "outbox-drain"];

/// Turns stored and turns not stored.
pub struct AppendCounters {
    stored: IntCounterVec,
    failures: IntCounterVec,
}

impl AppendCounters {
    /// Registers every series, at 0.
    pub fn register(registry: &Registry) -> Result<Self, prometheus::Error> {
        Ok(Self {
            stored: family(
                registry,
                "ccm_appends_total",
                "Turns stored, by channel kind.",
                "channel_kind",
                &channel_labels(),
            )?,
            failures: family(
                registry,
                "ccm_append_failures_total",
                "Turns that were sent and not stored, by stage.",
                "stage",
                &STAGES,
            )?,
        })
    }

    /// A turn was stored by this call.
    pub fn stored(&self, channel_kind: &str) {
        let labels = channel_labels();
        let label = labels.iter().find(|known| **known == channel_kind);
        self.stored
            .with_label_values(&[*label.unwrap_or(&OTHER)])
            .inc();
    }

    /// A turn was refused, or failed, before its caller.
    pub fn failed_at_once(&self) {
        self.failures.with_label_values(&[STAGES[0]]).inc();
    }

    /// A queued turn was refused, or failed.
    pub fn failed_in_queue(&self) {
        self.failures.with_label_values(&[STAGES[1]]).inc();
    }
}

fn channel_labels() -> Vec<&'static str> {
    let platforms = PlatformKind::ALL.into_iter().map(PlatformKind::as_str);
    platforms.chain(OTHER_CHANNELS).chain([OTHER]).collect()
}
