//! What the adapter's calls and its tasks share.

use std::sync::Arc;

use parking_lot::Mutex;
use throughline_conversation_memory::ChannelKind;
use throughline_domain::{Clock, Ids, TenantId};
use tokio::time::Instant;

use crate::deliver::{Delivery, Job};
use crate::hot::Hot;
use crate::line::{Fate, Levels, Line, Work};
use crate::metrics::HistoryMetrics;
use crate::report::Report;
use crate::{HistoryConfig, HistorySpool, MemoryService, MemoryWatch};

pub(crate) struct Shared {
    pub(crate) kind: ChannelKind,
    pub(crate) config: HistoryConfig,
    pub(crate) memory: MemoryWatch,
    pub(crate) hot: Arc<Hot>,
    pub(crate) line: Line,
    pub(crate) spool: Option<Arc<HistorySpool>>,
    pub(crate) report: Report,
    pub(crate) metrics: HistoryMetrics,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn Ids>,
    /// The line's levels as the gauges have them.
    pub(crate) shown: Mutex<Levels>,
    /// No cold scope is asked for before this.
    pub(crate) reads_paused: Mutex<Option<Instant>>,
}

impl Shared {
    /// Puts work in line. Takes a lock for a moment and waits for nothing else.
    pub(crate) fn enqueue(&self, tenant: &TenantId, work: Work) {
        let dropped = self.line.push(tenant, work);
        self.dropped(dropped);
        self.show_levels();
    }

    pub(crate) fn dropped(&self, turns: u64) {
        if turns > 0 {
            self.metrics.dropped(turns);
            tracing::warn!(
                turns,
                "too many turns wait for conversation memory; the oldest were dropped"
            );
        }
    }

    pub(crate) fn show_levels(&self) {
        let mut shown = self.shown.lock();
        let now = self.line.levels();
        self.metrics.moved(*shown, now);
        *shown = now;
    }

    /// Takes these jobs to the service: a fate each. What an answer says of erasures is heeded.
    pub(crate) async fn deliver(
        &self,
        service: &MemoryService,
        tenant: &TenantId,
        jobs: Vec<Job>,
        tries: &[u32],
    ) -> Vec<Fate> {
        let delivery = Delivery {
            service,
            tenant,
            deadline: self.config.call_deadline,
            report: &self.report,
            random: self.ids.number(),
        };
        let fates = delivery.run(jobs, tries).await;
        self.heed_epoch(service, tenant);
        fates
    }

    /// What must not be served any more is gone when this returns (D-09).
    pub(crate) fn heed_epoch(&self, service: &MemoryService, tenant: &TenantId) {
        let epochs = service.epochs.as_ref();
        if let Some(epoch) = epochs.and_then(|epochs| epochs.epoch(tenant)) {
            self.hot.see_epoch(tenant, epoch);
        }
    }
}
