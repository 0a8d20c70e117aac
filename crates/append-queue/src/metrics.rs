//! What waits, and what became of it. No label is open: tenants are not told apart (T-75).

use std::sync::Arc;

use parking_lot::Mutex;
use prometheus::core::{Collector, Desc};
use prometheus::proto::MetricFamily;
use prometheus::{Gauge, IntCounter, IntCounterVec, IntGauge, Opts, Registry};
use throughline_conversation_memory::OutboxStats;
use throughline_domain::{Clock, Timestamp};
use throughline_spool::Spool;

use crate::Report;

const PLACES: [&str; 2] = ["outbox", "spool"];
const OUTCOMES: [&str; 5] = ["stored", "duplicate", "dropped", "waiting", "dead"];

/// Where an append was queued.
#[derive(Clone, Copy)]
pub(crate) enum Place {
    Outbox,
    Spool,
}

/// Counters of the queue, and gauges that are read when they are asked for.
pub struct QueueMetrics {
    queued: IntCounterVec,
    drained: IntCounterVec,
    dead_letters: IntCounter,
    seen: Arc<Mutex<OutboxStats>>,
}

impl QueueMetrics {
    /// Registers every series, at 0.
    pub fn register(
        registry: &Registry,
        spool: Option<Spool>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, prometheus::Error> {
        let metrics = Self {
            queued: family(
                "ccm_outbox_queued_total",
                "Appends that were queued in place of being stored, by where.",
                "place",
                &PLACES,
            )?,
            drained: family(
                "ccm_outbox_drained_total",
                "Queued appends that were offered to the store, by what became of them.",
                "outcome",
                &OUTCOMES,
            )?,
            dead_letters: IntCounter::new(
                "ccm_outbox_dlq_total",
                "Queued appends that became dead letters, or were set aside in the spool.",
            )?,
            seen: Arc::default(),
        };
        registry.register(Box::new(metrics.queued.clone()))?;
        registry.register(Box::new(metrics.drained.clone()))?;
        registry.register(Box::new(metrics.dead_letters.clone()))?;
        let seen = Arc::clone(&metrics.seen);
        registry.register(Box::new(Levels::new(seen, spool, clock)?))?;
        Ok(metrics)
    }

    pub(crate) fn queued(&self, place: Place) {
        let place = PLACES[place as usize];
        self.queued.with_label_values(&[place]).inc();
    }

    pub(crate) fn swept(&self, report: &Report) {
        let counts = [
            report.stored,
            report.duplicates,
            report.dropped,
            report.waiting,
            report.dead,
        ];
        for (outcome, count) in OUTCOMES.iter().zip(counts) {
            self.drained.with_label_values(&[*outcome]).inc_by(count);
        }
        self.dead_letters.inc_by(report.dead);
    }

    pub(crate) fn seen(&self, stats: OutboxStats) {
        *self.seen.lock() = stats;
    }
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

/// How much waits and for how long, as of the moment of the scrape. The outbox's part is what the last
/// sweep saw.
struct Levels {
    seen: Arc<Mutex<OutboxStats>>,
    spool: Option<Spool>,
    clock: Arc<dyn Clock>,
    pending: IntGauge,
    dead: IntGauge,
    outbox_age: Gauge,
    dlq_age: Gauge,
    spool_entries: IntGauge,
    spool_bytes: IntGauge,
    spool_limit: IntGauge,
    spool_aside: IntGauge,
    spool_corrupt: IntGauge,
    spool_dropped: IntCounter,
    spool_age: Gauge,
}

impl Levels {
    fn new(
        seen: Arc<Mutex<OutboxStats>>,
        spool: Option<Spool>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, prometheus::Error> {
        Ok(Self {
            seen,
            spool,
            clock,
            pending: IntGauge::new("ccm_outbox_pending", "Appends that wait in the outbox.")?,
            dead: IntGauge::new("ccm_outbox_dlq", "Dead letters in the outbox.")?,
            outbox_age: Gauge::new(
                "ccm_outbox_oldest_age_seconds",
                "How long the oldest append in the outbox has been waiting.",
            )?,
            dlq_age: Gauge::new(
                "ccm_dlq_oldest_age_seconds",
                "How long ago the oldest dead letter died.",
            )?,
            spool_entries: IntGauge::new(
                "ccm_spool_entries",
                "Appends that wait in this process's spool.",
            )?,
            spool_bytes: IntGauge::new(
                "ccm_spool_bytes",
                "Bytes charged to what lies in this process's spool, set aside included.",
            )?,
            spool_limit: IntGauge::new(
                "ccm_spool_limit_bytes",
                "Bytes that this process's spool takes at most; 0 without a spool.",
            )?,
            spool_aside: IntGauge::new(
                "ccm_spool_set_aside",
                "Entries set aside in this process's spool.",
            )?,
            spool_corrupt: IntGauge::new(
                "ccm_spool_corrupt",
                "Entries of this process's spool found damaged since its file was made.",
            )?,
            spool_dropped: IntCounter::new(
                "ccm_outbox_local_dropped_total",
                "Appends that this process's local queue threw out to make room.",
            )?,
            spool_age: Gauge::new(
                "ccm_spool_oldest_age_seconds",
                "How long the oldest append in this process's spool has been waiting.",
            )?,
        })
    }

    fn all(&self) -> [&dyn Collector; 11] {
        [
            &self.pending,
            &self.dead,
            &self.outbox_age,
            &self.dlq_age,
            &self.spool_entries,
            &self.spool_bytes,
            &self.spool_limit,
            &self.spool_aside,
            &self.spool_corrupt,
            &self.spool_dropped,
            &self.spool_age,
        ]
    }

    fn update(&self) {
        let now = self.clock.now();
        let age = |since: Option<Timestamp>| since.map_or(0.0, |at| now.since(at).as_secs_f64());
        let outbox = *self.seen.lock();
        self.pending.set(level(outbox.pending));
        self.dead.set(level(outbox.dead));
        self.outbox_age.set(age(outbox.oldest_pending));
        self.dlq_age.set(age(outbox.oldest_dead));
        let Some(spool) = &self.spool else { return };
        self.spool_limit.set(level(spool.max_bytes()));
        let spool = spool.stats();
        self.spool_entries.set(level(spool.pending.entries));
        self.spool_bytes
            .set(level(spool.pending.bytes + spool.set_aside.bytes));
        self.spool_aside.set(level(spool.set_aside.entries));
        self.spool_corrupt.set(level(spool.corrupt_total));
        let counted = self.spool_dropped.get();
        self.spool_dropped
            .inc_by(spool.dropped_total.saturating_sub(counted));
        self.spool_age.set(age(spool.oldest_pending));
    }
}

fn level(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

impl Collector for Levels {
    fn desc(&self) -> Vec<&Desc> {
        self.all().into_iter().flat_map(Collector::desc).collect()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        self.update();
        self.all()
            .into_iter()
            .flat_map(Collector::collect)
            .collect()
    }
}
