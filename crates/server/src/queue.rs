//! Appends that wait: the outbox and the spool behind the router, and the sweep that empties them.

mod run;
mod spool;

use std::sync::Arc;

use prometheus::Registry;
use throughline_api::AppendCounters;
use throughline_append_queue::{
    Counts, Deps, Keeper, QueueMetrics, Report, SpooledErasure, drain_outbox,
};
use throughline_conversation_memory::{AppendQueue, ChannelKind, ConversationMemory, Outbox};
use throughline_domain::{Clock, Ids, WorkerId};
use throughline_erasure::Erasure;
use throughline_platform_identity::PlatformIdentity;
use throughline_spool::Spool;
use throughline_tenancy::Tenancy;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use crate::failure::Failure;
use crate::service::unusable;
use crate::settings::Settings;

pub(crate) use run::Sweeping;

/// What the queue stands on.
#[derive(Clone)]
pub(crate) struct Parts {
    pub(crate) memory: Arc<dyn ConversationMemory>,
    pub(crate) identity: Arc<dyn PlatformIdentity>,
    pub(crate) tenancy: Arc<dyn Tenancy>,
    pub(crate) outbox: Arc<dyn Outbox>,
    pub(crate) appends: Arc<AppendCounters>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn Ids>,
}

/// Where appends are kept, and how they get out again.
pub(crate) struct Queue {
    keeper: Arc<Keeper>,
    sweep: Arc<Sweep>,
}

/// The sweep: one at a time in this process.
pub(crate) struct Sweep {
    deps: Deps,
    running: Mutex<()>,
    stop: CancellationToken,
}

/// The counters of the surface, moved by the sweep.
struct Shared(Arc<AppendCounters>);

impl Counts for Shared {
    fn stored(&self, channel_kind: &ChannelKind) {
        self.0.stored(channel_kind.as_str());
    }

    fn failed(&self) {
        self.0.failed_in_queue();
    }
}

impl Queue {
    /// Opens the spool, if there is to be one.
    pub(crate) async fn open(
        parts: Parts,
        settings: &Settings,
        registry: &Registry,
    ) -> Result<Self, Failure> {
        let spool = spool::open(settings, &parts.clock, &parts.ids).await?;
        let metrics = QueueMetrics::register(registry, spool.clone(), Arc::clone(&parts.clock));
        let metrics = Arc::new(metrics.map_err(|error| unusable(&error))?);
        let outbox = Arc::clone(&parts.outbox);
        let keeper = Keeper::new(outbox, spool.clone(), Arc::clone(&metrics));
        let sweep = Sweep {
            deps: deps(parts, spool, metrics),
            running: Mutex::default(),
            stop: CancellationToken::new(),
        };
        Ok(Self {
            keeper: Arc::new(keeper),
            sweep: Arc::new(sweep),
        })
    }

    /// Where a turn goes that the store did not take.
    pub(crate) fn keeper(&self) -> Arc<dyn AppendQueue> {
        self.keeper.clone()
    }

    /// The erasure that takes along what waits here, where there is a spool.
    pub(crate) fn erasing(&self, store: Arc<dyn Erasure>) -> Arc<dyn Erasure> {
        let Deps {
            spool, identity, ..
        } = &self.sweep.deps;
        match spool {
            Some(spool) => {
                let identity = Arc::clone(identity);
                Arc::new(SpooledErasure::new(store, identity, spool.clone()))
            }
            None => store,
        }
    }

    /// A sweep on demand.
    pub(crate) fn sweep(&self) -> Arc<Sweep> {
        self.sweep.clone()
    }

    /// Sweeps from now on, every few seconds.
    pub(crate) fn start(self) -> Sweeping {
        Sweeping::start(self.sweep)
    }
}

fn deps(parts: Parts, spool: Option<Spool>, metrics: Arc<QueueMetrics>) -> Deps {
    Deps {
        worker: WorkerId::new(parts.ids.ulid(parts.clock.now())),
        memory: parts.memory,
        identity: parts.identity,
        tenancy: parts.tenancy,
        outbox: parts.outbox,
        spool,
        clock: parts.clock,
        ids: parts.ids,
        metrics,
        counts: Arc::new(Shared(parts.appends)),
    }
}

impl Sweep {
    /// One sweep, after the one that may be running.
    pub(crate) async fn once(&self) -> Report {
        let _alone = self.running.lock().await;
        let report = drain_outbox(&self.deps, &self.stop).await;
        if !report.is_empty() {
            tracing::info!(
                stored = report.stored,
                duplicates = report.duplicates,
                dropped = report.dropped,
                waiting = report.waiting,
                dead = report.dead,
                expired = report.expired,
                away = report.away,
                unfinished = report.unfinished,
                "swept the queue of appends"
            );
        }
        report
    }
}
