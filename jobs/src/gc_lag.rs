//! Looks once a minute for how long ended turns have been waiting to be deleted, so that a sweep that
//! never comes is seen even where no sweep runs. Removes nothing.

use std::sync::Arc;

use async_trait::async_trait;
use throughline_conversation_memory::Retention;
use throughline_domain::Clock;

use crate::gc::GcMetrics;
use crate::job::{Job, JobContext, Report};

/// The job.
pub struct GcLag {
    retention: Arc<dyn Retention>,
    clock: Arc<dyn Clock>,
    metrics: GcMetrics,
}

impl GcLag {
    /// Over all tenants of this store.
    pub fn new(retention: Arc<dyn Retention>, clock: Arc<dyn Clock>, metrics: GcMetrics) -> Self {
        Self {
            retention,
            clock,
            metrics,
        }
    }
}

#[async_trait]
impl Job for GcLag {
    fn name(&self) -> &'static str {
        "gc_lag"
    }

    async fn run(&self, _context: &JobContext) -> Report {
        match self.retention.oldest_ended().await {
            Ok(oldest) => {
                let lag = oldest.map_or(0, |ended| self.clock.now().since(ended).as_secs());
                self.metrics.lag.set(i64::try_from(lag).unwrap_or(i64::MAX));
                Report::empty()
            }
            Err(error) => Report::failed(error),
        }
    }
}
