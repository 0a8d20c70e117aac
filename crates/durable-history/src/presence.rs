//! Whether there is a memory service, now and later (T-81).

use std::sync::Arc;

use throughline_conversation_memory::{AppendQueue, ConversationMemory};
use throughline_platform_identity::PlatformIdentity;
use tokio::sync::watch;

use crate::ErasureEpochs;

/// What the adapter needs of the memory service.
#[derive(Clone)]
pub struct MemoryService {
    /// The log of turns.
    pub memory: Arc<dyn ConversationMemory>,
    /// Who a channel user is, for turns whose context names no user id. Without it such turns are not
    /// stored.
    pub identity: Option<Arc<dyn PlatformIdentity>>,
    /// Where appends go that the log did not take.
    pub outbox: Option<Arc<dyn AppendQueue>>,
    /// What its answers say of erasures.
    pub epochs: Option<Arc<dyn ErasureEpochs>>,
}

impl MemoryService {
    /// The log of turns and nothing else.
    pub fn new(memory: Arc<dyn ConversationMemory>) -> Self {
        Self {
            memory,
            identity: None,
            outbox: None,
            epochs: None,
        }
    }

    /// With identity.
    #[must_use]
    pub fn with_identity(mut self, identity: Arc<dyn PlatformIdentity>) -> Self {
        self.identity = Some(identity);
        self
    }

    /// With a durable queue for what the log does not take.
    #[must_use]
    pub fn with_outbox(mut self, outbox: Arc<dyn AppendQueue>) -> Self {
        self.outbox = Some(outbox);
        self
    }

    /// With the epochs its answers carry.
    #[must_use]
    pub fn with_epochs(mut self, epochs: Arc<dyn ErasureEpochs>) -> Self {
        self.epochs = Some(epochs);
        self
    }
}

/// A watch on the memory service. Clones watch the same one.
#[derive(Clone)]
pub struct MemoryWatch(watch::Receiver<Option<MemoryService>>);

/// The other end: whoever finds the service, or loses it, says so here. Once it is gone, what it said
/// last stays so.
pub struct MemorySwitch(watch::Sender<Option<MemoryService>>);

impl MemoryWatch {
    /// There is no memory service, and there will be none: nothing is kept for it.
    pub fn never() -> Self {
        Self(watch::channel(None).1)
    }

    /// There is one for the life of the process; it may still fail to answer.
    pub fn always(service: MemoryService) -> Self {
        Self(watch::channel(Some(service)).1)
    }

    /// There is none yet.
    pub fn absent() -> (MemorySwitch, Self) {
        let (switch, watch) = watch::channel(None);
        (MemorySwitch(switch), Self(watch))
    }

    /// The service, if it is there.
    pub(crate) fn service(&self) -> Option<MemoryService> {
        self.0.borrow().clone()
    }

    /// Whether there is a service, or may come to be one.
    pub(crate) fn may_come(&self) -> bool {
        self.0.borrow().is_some() || self.0.has_changed().is_ok()
    }

    /// Returns at the next word of the switch; never, when the switch is gone.
    pub(crate) async fn changed(&mut self) {
        if self.0.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

impl MemorySwitch {
    /// The service is there.
    pub fn present(&self, service: MemoryService) {
        self.0.send_replace(Some(service));
    }

    /// The service is gone. Turns wait for its return.
    pub fn absent(&self) {
        self.0.send_replace(None);
    }
}
