//! What the binary hands in.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use throughline_conversation_memory::{AppendQueue, Audit, ConversationMemory, Outbox, RawReads};
use throughline_domain::{Clock, Ids, TenantId};
use throughline_erasure::Erasure;
use throughline_platform_identity::PlatformIdentity;
use throughline_tenancy::Tenancy;
use throughline_wire::JobRunAnswer;

use crate::AppendCounters;

/// Everything the surface stands on.
#[derive(Clone)]
pub struct Capabilities {
    /// Who is behind a channel's user.
    pub identity: Arc<dyn PlatformIdentity>,
    /// What was said.
    pub memory: Arc<dyn ConversationMemory>,
    /// The same without masks, for operators, with a trace.
    pub raw: Arc<dyn RawReads>,
    /// Where a turn goes that the store did not take.
    pub queue: Arc<dyn AppendQueue>,
    /// What waits in the store, for operators.
    pub outbox: Arc<dyn Outbox>,
    /// The counters that appends share, however they came.
    pub appends: Arc<AppendCounters>,
    /// What was done to people's data, for operators.
    pub audit: Arc<dyn Audit>,
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
    /// What runs by the clock.
    pub jobs: Arc<dyn JobControl>,
}

/// Runs jobs when an operator asks.
#[async_trait]
pub trait JobControl: Send + Sync {
    /// Runs the job now and answers when it has ended. The run goes on if the caller goes away.
    async fn run_now(&self, job: &str, ask: JobAsk) -> Result<JobRunAnswer, JobRefusal>;
}

/// What an operator asks of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobAsk {
    /// Only say what would be done.
    pub dry_run: bool,
    /// Only for this tenant.
    pub tenant: Option<TenantId>,
}

/// Why a job was not run.
#[derive(Debug)]
pub enum JobRefusal {
    /// There is none of that name; these there are.
    UnknownJob(Vec<&'static str>),
    /// It cannot do what a parameter asks of it.
    CannotBeAsked {
        /// The parameter.
        parameter: &'static str,
        /// Why.
        detail: &'static str,
    },
    /// It runs already.
    Running,
    /// The process stops.
    Stopping,
    /// The store did not answer; what was done until then stays done.
    Away(Box<dyn std::error::Error + Send + Sync>),
    /// It did not end well.
    Broken(Box<dyn std::error::Error + Send + Sync>),
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
