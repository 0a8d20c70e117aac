//! What the writers measure.

use prometheus::{Histogram, HistogramOpts, IntCounter, IntGauge, Registry};

/// Turns that wait, turns a transaction, turns refused because the queue is full.
#[derive(Clone)]
pub(crate) struct WriterMetrics {
    queued: IntGauge,
    batch: Histogram,
    refused: IntCounter,
}

impl WriterMetrics {
    /// Registers every series at zero.
    pub(crate) fn register(registry: &Registry) -> Result<Self, prometheus::Error> {
        let queued = IntGauge::new(
            "ccm_store_writer_queued_turns",
            "Turns that wait for a writer.",
        )?;
        let batch = HistogramOpts::new(
            "ccm_store_writer_batch_turns",
            "Turns that a writer stored in one go.",
        );
        let batch =
            Histogram::with_opts(batch.buckets(prometheus::exponential_buckets(1.0, 2.0, 9)?))?;
        let refused = IntCounter::new(
            "ccm_store_writer_refused_turns_total",
            "Turns refused because the queue was full or being closed.",
        )?;
        registry.register(Box::new(queued.clone()))?;
        registry.register(Box::new(batch.clone()))?;
        registry.register(Box::new(refused.clone()))?;
        Ok(Self {
            queued,
            batch,
            refused,
        })
    }

    pub(super) fn queued(&self, turns: usize) {
        self.queued.add(i64::try_from(turns).unwrap_or(i64::MAX));
    }

    pub(super) fn taken(&self, turns: usize) {
        self.queued.sub(i64::try_from(turns).unwrap_or(i64::MAX));
    }

    pub(super) fn wrote(&self, turns: usize) {
        self.batch
            .observe(f64::from(u32::try_from(turns).unwrap_or(u32::MAX)));
    }

    pub(super) fn refused(&self, turns: usize) {
        self.refused
            .inc_by(u64::try_from(turns).unwrap_or(u64::MAX));
    }
}
