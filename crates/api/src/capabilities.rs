//! What the binary hands in.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use throughline_conversation_memory::{ConversationMemory, RawReads};
use throughline_domain::{Clock, Ids};
use throughline_erasure::Erasure;
use throughline_platform_identity::PlatformIdentity;
use throughline_tenancy::Tenancy;

/// Everything the surface stands on.
#[derive(Clone)]
pub struct Capabilities {
    /// Who is behind a channel's user.
    pub identity: Arc<dyn PlatformIdentity>,
    /// What was said.
    pub memory: Arc<dyn ConversationMemory>,
    /// The same without masks, for operators, with a trace.
    pub raw: Arc<dyn RawReads>,
    /// Forgetting people.
    pub erasure: Arc<dyn Erasure>,
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
