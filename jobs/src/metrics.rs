//! What is counted of every job, by its name. The label is not `job`: Prometheus gives every series one of
//! that name, the target's.

use std::time::Duration;

use prometheus::{HistogramOpts, HistogramVec, IntCounterVec, IntGaugeVec, Opts, Registry};
use throughline_domain::Timestamp;

/// How a run can end: [`crate::Outcome`], a panic, or a run that had to be dropped.
const OUTCOMES: [&str; 5] = ["done", "partial", "failed", "panicked", "timed_out"];
const SECONDS: [f64; 11] = [
    0.005, 0.02, 0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3600.0,
];

#[derive(Clone)]
pub(crate) struct Metrics {
    runs: IntCounterVec,
    skipped: IntCounterVec,
    duration: HistogramVec,
    last_success: IntGaugeVec,
    running: IntGaugeVec,
}

impl Metrics {
    pub(crate) fn register(registry: &Registry) -> Result<Self, prometheus::Error> {
        let runs = IntCounterVec::new(
            Opts::new("ccm_job_runs_total", "Runs of a job that ended, by how."),
            &["job_name", "outcome"],
        )?;
        let skipped = IntCounterVec::new(
            Opts::new(
                "ccm_job_skipped_total",
                "Starts of a job that were dropped because it still ran.",
            ),
            &["job_name"],
        )?;
        let duration = HistogramVec::new(
            HistogramOpts::new("ccm_job_duration_seconds", "How long a run of a job took.")
                .buckets(SECONDS.to_vec()),
            &["job_name"],
        )?;
        let last_success = IntGaugeVec::new(
            Opts::new(
                "ccm_job_last_success_timestamp_seconds",
                "When a job last ended with nothing left to do, since the epoch; 0 before the first time.",
            ),
            &["job_name"],
        )?;
        let running = IntGaugeVec::new(
            Opts::new("ccm_job_running", "1 while a job runs in this process."),
            &["job_name"],
        )?;
        registry.register(Box::new(runs.clone()))?;
        registry.register(Box::new(skipped.clone()))?;
        registry.register(Box::new(duration.clone()))?;
        registry.register(Box::new(last_success.clone()))?;
        registry.register(Box::new(running.clone()))?;
        Ok(Self {
            runs,
            skipped,
            duration,
            last_success,
            running,
        })
    }

    /// Makes every series of a job, at zero.
    pub(crate) fn know(&self, job: &str) {
        for outcome in OUTCOMES {
            self.runs.with_label_values(&[job, outcome]);
        }
        self.skipped.with_label_values(&[job]);
        self.duration.with_label_values(&[job]);
        self.last_success.with_label_values(&[job]);
        self.running.with_label_values(&[job]);
    }

    pub(crate) fn skipped(&self, job: &str) {
        self.skipped.with_label_values(&[job]).inc();
    }

    pub(crate) fn started(&self, job: &str) {
        self.running.with_label_values(&[job]).set(1);
    }

    pub(crate) fn ended(&self, job: &str, outcome: &str, took: Duration, now: Timestamp) {
        self.running.with_label_values(&[job]).set(0);
        self.runs.with_label_values(&[job, outcome]).inc();
        self.duration
            .with_label_values(&[job])
            .observe(took.as_secs_f64());
        if outcome == "done" {
            self.last_success
                .with_label_values(&[job])
                .set(now.as_millis() / 1_000);
        }
    }
}
