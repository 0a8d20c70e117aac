//! Appends that wait: the outbox and the spool behind the router, and what the job that empties them
//! works with.

mod spool;

use std::sync::Arc;

use prometheus::Registry;
use throughline_api::AppendCounters;
use throughline_append_queue::{Counts, Deps, Keeper, QueueMetrics, SpooledErasure};
use throughline_conversation_memory::{AppendQueue, ChannelKind, ConversationMemory, Outbox};
use throughline_domain::{Clock, Ids, WorkerId};
use throughline_erasure::Erasure;
use throughline_platform_identity::PlatformIdentity;
use throughline_spool::Spool;
use throughline_tenancy::Tenancy;

use crate::failure::{Failure, chain};
use crate::service::unusable;
use crate::settings::Settings;

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
    deps: Deps,
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
        if spool.is_some() && !settings.jobs.0 {
            tracing::warn!(
                "jobs are off: what this process spools waits until POST /admin/jobs/outbox/run"
            );
        }
        Ok(Self {
            keeper: Arc::new(keeper),
            deps: deps(parts, spool, metrics),
        })
    }

    /// Where a turn goes that the store did not take.
    pub(crate) fn keeper(&self) -> Arc<dyn AppendQueue> {
        self.keeper.clone()
    }

    /// What the job `outbox` works with.
    pub(crate) fn drain(&self) -> Deps {
        self.deps.clone()
    }

    /// The erasure that takes along what waits here, where there is a spool.
    pub(crate) fn erasing(&self, store: Arc<dyn Erasure>) -> Arc<dyn Erasure> {
        let Deps {
            spool, identity, ..
        } = &self.deps;
        match spool {
            Some(spool) => {
                let identity = Arc::clone(identity);
                Arc::new(SpooledErasure::new(store, identity, spool.clone()))
            }
            None => store,
        }
    }

    /// Closes the spool. After the last request and the last run of the job.
    pub(crate) async fn close(self) {
        if let Some(spool) = &self.deps.spool
            && let Err(error) = spool.close().await
        {
            tracing::error!(error = chain(&error), "the spool was not closed well");
        }
    }
}

/// What one run of the job works with in a process of its own: the outbox alone, for a spool belongs to the
/// service that has it open.
pub(crate) fn drain_of_the_outbox(parts: Parts, registry: &Registry) -> Result<Deps, Failure> {
    let metrics = QueueMetrics::register(registry, None, Arc::clone(&parts.clock));
    let metrics = metrics.map_err(|error| unusable(&error))?;
    Ok(deps(parts, None, Arc::new(metrics)))
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
