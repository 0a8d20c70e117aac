//! What is counted of sweeps. No label names a tenant or a user (T-75).

use prometheus::{Histogram, HistogramOpts, IntCounter, IntCounterVec, IntGauge, Opts, Registry};

/// The passes, in the order they run; tombstones are ours.
pub(crate) const PASSES: [&str; 5] = ["ttl", "count", "bytes", "audit", "tombstones"];

/// Counters of sweeps and of reconciling.
#[derive(Clone)]
pub struct GcMetrics {
    pub(crate) deletes: IntCounterVec,
    pub(crate) chunk_seconds: Histogram,
    pub(crate) restamped: IntCounter,
    pub(crate) leases_lost: IntCounter,
    pub(crate) lag: IntGauge,
    pub(crate) drifted_users: IntCounter,
    pub(crate) drift_turns: IntCounter,
    pub(crate) drift_bytes: IntCounter,
}

impl GcMetrics {
    /// Registers every series at zero.
    pub fn register(registry: &Registry) -> Result<Self, prometheus::Error> {
        let counter = |name: &str, help: &str| -> Result<IntCounter, prometheus::Error> {
            let counter = IntCounter::new(name, help)?;
            registry.register(Box::new(counter.clone()))?;
            Ok(counter)
        };
        let deletes = IntCounterVec::new(
            Opts::new(
                "ccm_gc_deletes_total",
                "Rows deleted by rule, by the pass that did.",
            ),
            &["pass"],
        )?;
        for pass in PASSES {
            deletes.with_label_values(&[pass]);
        }
        registry.register(Box::new(deletes.clone()))?;
        let chunk_seconds = Histogram::with_opts(
            HistogramOpts::new(
                "ccm_gc_chunk_seconds",
                "How long one transaction of a sweep took: as long it can hold an append up.",
            )
            .buckets(vec![
                0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0,
            ]),
        )?;
        registry.register(Box::new(chunk_seconds.clone()))?;
        let lag = IntGauge::new(
            "ccm_gc_lag_seconds",
            "For how long the longest-ended turn has been waiting to be deleted; 0 when none does.",
        )?;
        registry.register(Box::new(lag.clone()))?;
        Ok(Self {
            deletes,
            chunk_seconds,
            lag,
            restamped: counter(
                "ccm_gc_restamped_total",
                "Turns whose end was moved by a change of the retention.",
            )?,
            leases_lost: counter(
                "ccm_gc_leases_lost_total",
                "Visits to a tenant that were given up because another replica took over.",
            )?,
            drifted_users: counter(
                "ccm_quota_drift_users_total",
                "Users whose counters disagreed with their turns and were mended.",
            )?,
            drift_turns: counter(
                "ccm_quota_drift_turns_total",
                "Turns by which counters were off.",
            )?,
            drift_bytes: counter(
                "ccm_quota_drift_bytes_total",
                "Bytes by which counters were off.",
            )?,
        })
    }
}
