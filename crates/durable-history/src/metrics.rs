//! What the adapter counts, for the host to register (item by item in docs/adapter.md). No label is open:
//! neither tenants nor scopes are told apart (T-75).

use prometheus::{IntCounter, IntCounterVec, IntGauge, Opts, Registry};

use crate::line::Levels;

const CODES: [&str; 4] = ["committed", "rejected", "timeout", "transport"];
const KINDS: [&str; 2] = ["getByChannelScope", "getRecentByUser"];
const HYDRATIONS: [&str; 3] = ["found", "empty", "failed"];

/// Why a write did not answer with a plain success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WriteFailure {
    Committed,
    Rejected,
    Timeout,
    Transport,
}

impl WriteFailure {
    pub(crate) fn code(self) -> &'static str {
        CODES[self as usize]
    }
}

/// Which read failed (T-82).
#[derive(Clone, Copy)]
pub(crate) enum Read {
    Scope,
    Recent,
}

/// What came of asking the store for a cold scope.
#[derive(Clone, Copy)]
pub(crate) enum Hydrated {
    Found,
    Empty,
    Failed,
}

/// The adapter's counters and gauges. One set serves all adapters of a process: they add up.
#[derive(Clone)]
pub struct HistoryMetrics {
    write_failures: IntCounterVec,
    read_failures: IntCounterVec,
    dropped: IntCounter,
    hydrations: IntCounterVec,
    queued: IntGauge,
    failed: IntGauge,
    bytes: IntGauge,
    spool_entries: IntGauge,
    spool_set_aside: IntGauge,
    spool_bytes: IntGauge,
}

impl HistoryMetrics {
    /// Every series, at 0, registered nowhere.
    pub fn new() -> Result<Self, prometheus::Error> {
        Ok(Self {
            write_failures: family(
                "ccm_write_failures_total",
                "Turns whose write did not answer with a plain success, by the code of the first such answer; refusals of turns that waited are added.",
                "code",
                &CODES,
            )?,
            read_failures: family(
                "ccm_read_failures_total",
                "Reads of conversation memory that failed, by kind.",
                "kind",
                &KINDS,
            )?,
            dropped: IntCounter::new(
                "ccm_outbox_local_dropped_total",
                "Turns that were dropped, oldest first, because too many waited for the store.",
            )?,
            hydrations: family(
                "ccm_history_hydrations_total",
                "Cold scopes that the store was asked for, by what came of it.",
                "outcome",
                &HYDRATIONS,
            )?,
            queued: IntGauge::new(
                "ccm_history_queue_depth",
                "Turns and clearings that wait for their first attempt.",
            )?,
            failed: IntGauge::new(
                "ccm_history_buffer_entries",
                "Turns and clearings in this process that the store did not take yet.",
            )?,
            bytes: IntGauge::new(
                "ccm_history_waiting_bytes",
                "What everything that waits in this process takes, about.",
            )?,
            spool_entries: IntGauge::new(
                "ccm_history_spool_entries",
                "Turns and clearings that wait on this machine's disk.",
            )?,
            spool_set_aside: IntGauge::new(
                "ccm_history_spool_set_aside",
                "Entries on this machine's disk that are not tried any more.",
            )?,
            spool_bytes: IntGauge::new(
                "ccm_history_spool_bytes",
                "What the entries on this machine's disk are charged.",
            )?,
        })
    }

    /// Every series, at 0, in this registry.
    pub fn register(registry: &Registry) -> Result<Self, prometheus::Error> {
        let metrics = Self::new()?;
        for counters in [
            &metrics.write_failures,
            &metrics.read_failures,
            &metrics.hydrations,
        ] {
            registry.register(Box::new(counters.clone()))?;
        }
        registry.register(Box::new(metrics.dropped.clone()))?;
        for gauge in [
            &metrics.queued,
            &metrics.failed,
            &metrics.bytes,
            &metrics.spool_entries,
            &metrics.spool_set_aside,
            &metrics.spool_bytes,
        ] {
            registry.register(Box::new(gauge.clone()))?;
        }
        Ok(metrics)
    }

    pub(crate) fn write_failed(&self, failure: WriteFailure) {
        self.write_failures
            .with_label_values(&[failure.code()])
            .inc();
    }

    pub(crate) fn read_failed(&self, read: Read) {
        let kind = KINDS[read as usize];
        self.read_failures.with_label_values(&[kind]).inc();
    }

    pub(crate) fn dropped(&self, turns: u64) {
        self.dropped.inc_by(turns);
    }

    pub(crate) fn hydrated(&self, hydrated: Hydrated) {
        let outcome = HYDRATIONS[hydrated as usize];
        self.hydrations.with_label_values(&[outcome]).inc();
    }

    /// A line went from these levels to those.
    pub(crate) fn moved(&self, from: Levels, to: Levels) {
        self.queued.add(level(to.queued) - level(from.queued));
        self.failed.add(level(to.failed) - level(from.failed));
        self.bytes.add(level(to.bytes) - level(from.bytes));
    }

    pub(crate) fn spool(&self, stats: &throughline_spool::Stats) {
        let level = |count| i64::try_from(count).unwrap_or(i64::MAX);
        self.spool_entries.set(level(stats.pending.entries));
        self.spool_set_aside.set(level(stats.set_aside.entries));
        self.spool_bytes
            .set(level(stats.pending.bytes + stats.set_aside.bytes));
    }
}

fn level(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn family(
    name: &str,
    help: &str,
    label: &str,
    values: &[&str],
) -> Result<IntCounterVec, prometheus::Error> {
    let family = IntCounterVec::new(Opts::new(name, help), &[label])?;
    for value in values {
        family.with_label_values(&[*value]);
    }
    Ok(family)
}
