//! What the surface counts. Labels come from closed sets, so the number of series never grows (T-75),
//! and every series stands at 0 from the start.

use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use prometheus::{HistogramOpts, HistogramVec, IntCounter, IntCounterVec, Opts, Registry};
use throughline_conversation_memory::AppendError;
use throughline_platform_identity::{IdentityError, Resolved};

use crate::AppendCounters;
use crate::observe::{UNMATCHED, method_label};
use crate::routes;

pub(crate) const OTHER: &str = "other";
const STATUS_CLASSES: [&str; 3] = ["2xx", "4xx", "5xx"];
const WRITE_FAILURES: [&str; 4] = ["committed", "rejected", "timeout", "transport"];
const RESOLVES: [&str; 3] = ["new", "known", "failed"];
const BUCKETS: [f64; 11] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0,
];

/// The reads that are counted by kind.
#[derive(Clone, Copy)]
pub(crate) enum Read {
    RecentByUser,
    ByChannelScope,
    /// By user, without masks; counted apart, too.
    Raw,
}

impl Read {
    const ALL: [Self; 2] = [Self::RecentByUser, Self::ByChannelScope];

    fn label(self) -> &'static str {
        match self {
            Self::RecentByUser | Self::Raw => "getRecentByUser",
            Self::ByChannelScope => "getByChannelScope",
        }
    }
}

pub(crate) struct Counters {
    appends: Arc<AppendCounters>,
    write_failures: IntCounterVec,
    reads: IntCounterVec,
    reads_pending: IntCounter,
    reads_raw: IntCounter,
    resolves: IntCounterVec,
    durations: HistogramVec,
}

impl Counters {
    pub(crate) fn register(
        registry: &Registry,
        appends: Arc<AppendCounters>,
    ) -> Result<Self, prometheus::Error> {
        let counters = Self {
            appends,
            write_failures: family(
                registry,
                "ccm_write_failures_total",
                "Appends that did not end in a plain success, by what is known of them.",
                "code",
                &WRITE_FAILURES,
            )?,
            reads: family(
                registry,
                "ccm_reads_total",
                "Reads of turns, by kind.",
                "kind",
                &Read::ALL.map(Read::label),
            )?,
            reads_pending: IntCounter::new(
                "ccm_reads_redaction_pending_total",
                "Turns left out of reads because they are not scanned yet.",
            )?,
            reads_raw: IntCounter::new(
                "ccm_reads_raw_total",
                "Reads of turns without masks, by operators.",
            )?,
            resolves: family(
                registry,
                "pi_resolves_total",
                "Channel users resolved, by outcome.",
                "outcome",
                &RESOLVES,
            )?,
            durations: durations(registry)?,
        };
        registry.register(Box::new(counters.reads_pending.clone()))?;
        registry.register(Box::new(counters.reads_raw.clone()))?;
        Ok(counters)
    }

    /// A turn was stored by this call.
    pub(crate) fn appended(&self, channel_kind: &str) {
        self.appends.stored(channel_kind);
    }

    /// A turn was refused before the store was asked.
    pub(crate) fn append_refused(&self) {
        self.appends.failed_at_once();
        self.write_failures.with_label_values(&["rejected"]).inc();
    }

    /// A turn's author could not be resolved, or its key not be looked up.
    pub(crate) fn append_not_sent(&self) {
        self.appends.failed_at_once();
        self.write_failures.with_label_values(&["transport"]).inc();
    }

    /// A request with turns was turned away unread; how many it holds nobody knows, so it counts as one.
    pub(crate) fn append_turned_away(&self) {
        self.append_not_sent();
    }

    /// A request with turns took longer than it may; counted as one.
    pub(crate) fn append_cut_off(&self) {
        self.appends.failed_at_once();
        self.write_failures.with_label_values(&["timeout"]).inc();
    }

    /// The store did not answer with a plain success.
    pub(crate) fn append_failed(&self, error: &AppendError) {
        let code = match error {
            AppendError::Committed { .. } => "committed",
            AppendError::Rejected { .. } => "rejected",
            AppendError::Timeout { .. } => "timeout",
            AppendError::Transport { .. } => "transport",
        };
        self.write_failures.with_label_values(&[code]).inc();
        if !matches!(error, AppendError::Committed { .. }) {
            self.appends.failed_at_once();
        }
    }

    /// Turns were read.
    pub(crate) fn read(&self, read: Read, pending_excluded: u32) {
        self.reads.with_label_values(&[read.label()]).inc();
        self.reads_pending.inc_by(u64::from(pending_excluded));
        if matches!(read, Read::Raw) {
            self.reads_raw.inc();
        }
    }

    /// A channel user was resolved, or not.
    pub(crate) fn resolved(&self, result: &Result<Resolved, IdentityError>) {
        let outcome = match result {
            Ok(Resolved { is_new: true, .. }) => "new",
            Ok(Resolved { is_new: false, .. }) => "known",
            Err(_) => "failed",
        };
        self.resolves.with_label_values(&[outcome]).inc();
    }

    /// A request was answered.
    pub(crate) fn served(&self, method: &str, route: &str, status: StatusCode, took: Duration) {
        let class = match status.as_u16() {
            ..400 => "2xx",
            400..500 => "4xx",
            500.. => "5xx",
        };
        // A path matched by another method has no series of its own.
        let known = routes::all()
            .iter()
            .any(|r| r.path == route && method_label(&r.method) == method);
        let (method, route) = if known {
            (method, route)
        } else {
            (OTHER, UNMATCHED)
        };
        self.durations
            .with_label_values(&[method, route, class])
            .observe(took.as_secs_f64());
    }
}

/// Registers a counter with one label and every value of it.
pub(crate) fn family(
    registry: &Registry,
    name: &str,
    help: &str,
    label: &str,
    values: &[&str],
) -> Result<IntCounterVec, prometheus::Error> {
    let counter = IntCounterVec::new(Opts::new(name, help), &[label])?;
    for value in values {
        counter.with_label_values(&[*value]);
    }
    registry.register(Box::new(counter.clone()))?;
    Ok(counter)
}

fn durations(registry: &Registry) -> Result<HistogramVec, prometheus::Error> {
    let options = HistogramOpts::new(
        "ccm_http_request_duration_seconds",
        "Time from the first header to the answer, by method, route template and status class.",
    )
    .buckets(BUCKETS.to_vec());
    let durations = HistogramVec::new(options, &["method", "route", "status"])?;
    for class in STATUS_CLASSES {
        for route in routes::all() {
            durations.with_label_values(&[method_label(&route.method), route.path, class]);
        }
        durations.with_label_values(&[OTHER, UNMATCHED, class]);
    }
    registry.register(Box::new(durations.clone()))?;
    Ok(durations)
}
