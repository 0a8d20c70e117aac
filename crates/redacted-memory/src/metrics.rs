//! What the scanner counts. Labels are entities, a closed set.

use std::time::Duration;

use prometheus::{Histogram, HistogramOpts, IntCounter, IntCounterVec, IntGauge, Opts, Registry};
use throughline_redaction::{Entity, Scan};

/// Counters of scans, registered at 0.
pub struct RedactionMetrics {
    turns: IntCounter,
    bytes: IntCounter,
    spans: IntCounterVec,
    seconds: Histogram,
    failures: IntCounter,
    unreadable: IntCounter,
    pending: IntGauge,
    oldest: IntGauge,
    covered: IntCounter,
    kept: IntCounter,
}

impl RedactionMetrics {
    /// Registers every series.
    pub fn register(registry: &Registry) -> Result<Self, prometheus::Error> {
        let metrics = Self {
            turns: IntCounter::new(
                "ccm_redaction_scanned_turns_total",
                "Turns that were looked through for personal data.",
            )?,
            bytes: IntCounter::new(
                "ccm_redaction_scanned_bytes_total",
                "Bytes that were looked through for personal data.",
            )?,
            spans: IntCounterVec::new(
                Opts::new("ccm_redaction_spans_total", "Findings, by what they are."),
                &["entity"],
            )?,
            seconds: Histogram::with_opts(
                HistogramOpts::new(
                    "ccm_redaction_scan_seconds",
                    "Time to look through one turn.",
                )
                .buckets(vec![
                    0.000_01, 0.000_03, 0.000_1, 0.000_3, 0.001, 0.003, 0.01, 0.03, 0.1, 0.5,
                ]),
            )?,
            failures: IntCounter::new(
                "ccm_redaction_failures_total",
                "Turns whose scan failed or took too long; they stay pending.",
            )?,
            unreadable: IntCounter::new(
                "ccm_redaction_unreadable_total",
                "Turns left out of a read because their findings do not fit their text.",
            )?,
            pending: IntGauge::new(
                "ccm_redaction_pending",
                "Turns that wait for a scan, up to a million.",
            )?,
            oldest: IntGauge::new(
                "ccm_redaction_oldest_pending_seconds",
                "How long the oldest of them has waited; 0 when none waits.",
            )?,
            covered: IntCounter::new(
                "ccm_redaction_covered_total",
                "Turns masked whole because their scan had failed too often.",
            )?,
            kept: IntCounter::new(
                "ccm_redaction_kept_total",
                "Turns that keep masks which the present detector would not make.",
            )?,
        };
        for entity in Entity::ALL {
            metrics.spans.with_label_values(&[entity.name()]);
        }
        registry.register(Box::new(metrics.turns.clone()))?;
        registry.register(Box::new(metrics.bytes.clone()))?;
        registry.register(Box::new(metrics.spans.clone()))?;
        registry.register(Box::new(metrics.seconds.clone()))?;
        registry.register(Box::new(metrics.failures.clone()))?;
        registry.register(Box::new(metrics.unreadable.clone()))?;
        registry.register(Box::new(metrics.pending.clone()))?;
        registry.register(Box::new(metrics.oldest.clone()))?;
        registry.register(Box::new(metrics.covered.clone()))?;
        registry.register(Box::new(metrics.kept.clone()))?;
        Ok(metrics)
    }

    pub(crate) fn scanned(&self, scan: &Scan, took: Duration) {
        self.turns.inc();
        self.bytes.inc_by(scan.bytes as u64);
        self.seconds.observe(took.as_secs_f64());
        for found in &scan.spans {
            self.spans
                .with_label_values(&[found.span.entity.name()])
                .inc();
        }
    }

    pub(crate) fn failed(&self, turns: usize) {
        self.failures.inc_by(turns as u64);
    }

    pub(crate) fn waiting(&self, turns: u64, oldest: Duration) {
        let gauge = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        self.pending.set(gauge(turns));
        self.oldest.set(gauge(oldest.as_secs()));
    }

    pub(crate) fn covered(&self) {
        self.covered.inc();
    }

    pub(crate) fn kept(&self, kept: bool) {
        self.kept.inc_by(u64::from(kept));
    }

    pub(crate) fn unreadable(&self, turns: usize) {
        self.unreadable.inc_by(turns as u64);
    }
}
