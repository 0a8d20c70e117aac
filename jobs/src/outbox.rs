//! Offers queued appends to the store until nothing is due: what waits in the outbox and, in the process
//! that has one, in the spool (T-17). Removes an entry once its turn is stored, a dead letter after its
//! tenant's retention, and whatever belongs to a deleted turn or person (T-37).

use async_trait::async_trait;
use throughline_append_queue::{Deps, Report as Drained, drain_outbox};

use crate::job::{Job, JobContext, Outcome, Report};

/// The job.
pub struct Outbox {
    deps: Deps,
}

impl Outbox {
    /// Over the queues of this process.
    pub fn new(deps: Deps) -> Self {
        Self { deps }
    }

    /// Goes on where a drain ended because its time was spent, as long as this run has some left.
    async fn drained(&self, context: &JobContext) -> Drained {
        let mut all = Drained::default();
        loop {
            all = all.and(drain_outbox(&self.deps, &context.stop).await);
            if all.away || !all.unfinished || context.should_stop() {
                return all;
            }
        }
    }
}

#[async_trait]
impl Job for Outbox {
    fn name(&self) -> &'static str {
        "outbox"
    }

    async fn run(&self, context: &JobContext) -> Report {
        let drained = self.drained(context).await;
        let mut report = Report::empty();
        // A store that is away is no failure of the job: what waits goes on waiting, and its age tells.
        if drained.away || drained.unfinished {
            report.outcome = Outcome::Partial;
        }
        if !drained.is_empty() {
            tell(&drained);
        }
        report.queue = Some(drained);
        report
    }
}

fn tell(drained: &Drained) {
    tracing::info!(
        stored = drained.stored,
        duplicates = drained.duplicates,
        dropped = drained.dropped,
        waiting = drained.waiting,
        dead = drained.dead,
        expired = drained.expired,
        away = drained.away,
        unfinished = drained.unfinished,
        "swept the queue of appends"
    );
}
