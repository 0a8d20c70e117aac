//! One sweep over everything that waits.
//!
//! Tenants take turns, a batch each. What the store takes, or will never take, is settled at once. What
//! failed without an answer is held until the end of the sweep: only if the store took something in the
//! meantime was it the entry's own failure and counts as an attempt; else the store was away, and
//! nobody is charged for waiting (T-17).

mod expire;
mod offer;
mod outbox;
mod report;
mod spool;
mod sweep;

use std::sync::Arc;

use throughline_conversation_memory::{ChannelKind, ConversationMemory, Outbox};
use throughline_domain::{Clock, Ids, WorkerId};
use throughline_platform_identity::PlatformIdentity;
use throughline_spool::Spool;
use throughline_tenancy::Tenancy;
use tokio_util::sync::CancellationToken;

use crate::QueueMetrics;
use sweep::Sweep;

pub use report::Report;

/// What a sweep works with.
#[derive(Clone)]
pub struct Deps {
    /// Where appends go in the end.
    pub memory: Arc<dyn ConversationMemory>,
    /// Who a channel user is, for those that could not be asked in time.
    pub identity: Arc<dyn PlatformIdentity>,
    /// How long a tenant keeps dead letters.
    pub tenancy: Arc<dyn Tenancy>,
    /// What waits in the database.
    pub outbox: Arc<dyn Outbox>,
    /// What waits on this machine's disk.
    pub spool: Option<Spool>,
    /// Now.
    pub clock: Arc<dyn Clock>,
    /// Jitter.
    pub ids: Arc<dyn Ids>,
    /// This process among its replicas.
    pub worker: WorkerId,
    /// What waits and what became of it.
    pub metrics: Arc<QueueMetrics>,
    /// The counters that appends share, however they came.
    pub counts: Arc<dyn Counts>,
}

/// The counters that appends share, however they came.
pub trait Counts: Send + Sync {
    /// A turn was stored. Not called for one that was there (T-15).
    fn stored(&self, channel_kind: &ChannelKind);
    /// A queued append failed or was refused: the stage `outbox-drain` (T-40).
    fn failed(&self);
}

/// Offers everything that is due to the store, until nothing is, the store is away, the time is spent
/// or it is told to stop. Safe to run on every replica at once, and to cut off anywhere: an append is
/// idempotent, and a lease ends by itself.
pub async fn drain_outbox(deps: &Deps, stop: &CancellationToken) -> Report {
    let mut sweep = Sweep::new(deps, stop);
    let ended = sweep.run().await;
    let report = sweep.finish(ended).await;
    deps.metrics.swept(&report);
    if let Ok(stats) = deps.outbox.stats().await {
        deps.metrics.seen(stats);
    }
    report
}
