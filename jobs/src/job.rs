//! A job as the runner sees it: a name and something to do until told to stop.

use std::error::Error;

use async_trait::async_trait;
use serde::Serialize;
use throughline_append_queue::Report as Drained;
use throughline_domain::TenantId;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Something the service does from time to time.
#[async_trait]
pub trait Job: Send + Sync {
    /// One word, the same in metrics, logs, the admin endpoint and the command line.
    fn name(&self) -> &'static str;

    /// Does it once. Between any two steps that are whole by themselves it asks
    /// [`JobContext::should_stop`].
    async fn run(&self, context: &JobContext) -> Report;
}

/// What an operator may ask of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// Only say what would be done.
    pub dry_run: bool,
    /// Only for this tenant.
    pub tenant: Option<TenantId>,
}

/// What a run is given.
#[derive(Clone, Debug)]
pub struct JobContext {
    /// `None` when the schedule started it.
    pub request: Option<Request>,
    pub(crate) stop: CancellationToken,
    pub(crate) spent_at: Instant,
}

/// How a run ended.
#[derive(Debug)]
pub enum Outcome {
    /// There is nothing left to do.
    Done,
    /// It was told to stop, or its time was spent; the next run goes on.
    Partial,
    /// It met an error.
    Failed(Box<dyn Error + Send + Sync>),
}

/// What was done for one tenant in one pass.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Done {
    /// For whom.
    pub tenant: TenantId,
    /// What: the pass.
    pub pass: &'static str,
    /// How many rows.
    pub rows: u64,
    /// How many bytes they counted for.
    pub bytes: u64,
}

/// What a run did, and how it ended.
#[derive(Debug)]
pub struct Report {
    /// How it ended.
    pub outcome: Outcome,
    /// What was done; passes that found nothing are left out.
    pub done: Vec<Done>,
    /// Tenants looked at.
    pub tenants: u64,
    /// Tenants left to another replica.
    pub left_to_others: u64,
    /// What the job `outbox` did, which is counted over all tenants.
    pub queue: Option<Drained>,
}

impl JobContext {
    /// A run that nobody stops, for as long as `spent_at` is not past.
    pub fn until(spent_at: Instant) -> Self {
        Self {
            request: None,
            stop: CancellationToken::new(),
            spent_at,
        }
    }

    /// The same, asked for by an operator.
    #[must_use]
    pub fn asked(mut self, request: Request) -> Self {
        self.request = Some(request);
        self
    }

    /// Whether to end at the next whole step: the service stops, or the run's time is spent.
    pub fn should_stop(&self) -> bool {
        self.stop.is_cancelled() || Instant::now() >= self.spent_at
    }

    /// Waits, shorter when told to stop.
    pub async fn pause(&self, time: std::time::Duration) {
        if !time.is_zero() {
            let _ = tokio::time::timeout(time, self.stop.cancelled()).await;
        }
    }

    /// Tells the run to stop.
    pub fn stop(&self) {
        self.stop.cancel();
    }
}

impl Report {
    /// A run that had nothing to do.
    pub fn empty() -> Self {
        Self {
            outcome: Outcome::Done,
            done: Vec::new(),
            tenants: 0,
            left_to_others: 0,
            queue: None,
        }
    }

    /// A run that met an error before it did anything.
    pub fn failed(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            outcome: Outcome::Failed(error.into()),
            ..Self::empty()
        }
    }

    /// Whether there was nothing to do.
    pub fn is_empty(&self) -> bool {
        self.done.is_empty() && self.queue.is_none_or(|drained| drained.is_empty())
    }

    /// Rows of that pass, over all tenants.
    pub fn rows(&self, pass: &str) -> u64 {
        let of_pass = self.done.iter().filter(|done| done.pass == pass);
        of_pass.map(|done| done.rows).sum()
    }
}

impl Outcome {
    /// The word in metrics and answers.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Partial => "partial",
            Self::Failed(_) => "failed",
        }
    }
}
