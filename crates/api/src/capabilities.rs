//! What the binary hands in.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use throughline_conversation_memory::{AppendQueue, ConversationMemory, Outbox};
use throughline_domain::{Clock, Ids};
use throughline_platform_identity::PlatformIdentity;
use throughline_tenancy::Tenancy;
use throughline_wire::OutboxRunAnswer;

use crate::AppendCounters;

/// Everything the surface stands on.
#[derive(Clone)]
pub struct Capabilities {
    /// Who is behind a channel's user.
    pub identity: Arc<dyn PlatformIdentity>,
    /// What was said.
    pub memory: Arc<dyn ConversationMemory>,
    /// Where a turn goes that the store did not take.
    pub queue: Arc<dyn AppendQueue>,
    /// What waits in the store, for operators.
    pub outbox: Arc<dyn Outbox>,
    /// Empties queue and outbox.
    pub sweep: Arc<dyn OutboxSweep>,
    /// The counters that appends share, however they came.
    pub appends: Arc<AppendCounters>,
    /// Tenants and keys.
    pub tenancy: Arc<dyn Tenancy>,
    /// Now.
    pub clock: Arc<dyn Clock>,
    /// Request ids and keys of turns.
    pub ids: Arc<dyn Ids>,
    /// Whether the store can serve.
    pub store: Arc<dyn StoreHealth>,
}

/// Whether the store can serve.
#[async_trait]
pub trait StoreHealth: Send + Sync {
    /// `Ok` when it is reachable and its schema fits.
    async fn check(&self) -> Result<(), NotReady>;
}

/// Empties queue and outbox into the store.
#[async_trait]
pub trait OutboxSweep: Send + Sync {
    /// One sweep, after the one that may be running.
    async fn sweep(&self) -> OutboxRunAnswer;
}

/// Why it cannot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotReady {
    /// A stable word, shown to anybody.
    pub reason: &'static str,
    /// A sentence for the log.
    pub detail: String,
}

/// A switch that says the process is about to stop: once set, `/readyz` answers 503.
#[derive(Clone, Debug, Default)]
pub struct Draining(Arc<AtomicBool>);

impl Draining {
    /// Not draining.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the switch; it stays set.
    pub fn start(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Whether it is set.
    pub fn is_draining(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}
