//! The sweep by the clock, and its end.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::MissedTickBehavior;
use tokio_util::task::TaskTracker;

use super::Sweep;
use crate::failure::chain;

/// T-17
const EVERY: Duration = Duration::from_secs(10);

/// A sweep every few seconds, on a task of its own.
pub(crate) struct Sweeping {
    sweep: Arc<Sweep>,
    tasks: TaskTracker,
}

impl Sweeping {
    pub(super) fn start(sweep: Arc<Sweep>) -> Self {
        let tasks = TaskTracker::new();
        tasks.spawn(by_the_clock(Arc::clone(&sweep)));
        tasks.close();
        Self { sweep, tasks }
    }

    /// Lets a running sweep end its batch, then closes the spool.
    pub(crate) async fn stop(self) {
        self.sweep.stop.cancel();
        self.tasks.wait().await;
        if let Some(spool) = &self.sweep.deps.spool
            && let Err(error) = spool.close().await
        {
            tracing::error!(error = chain(&error), "the spool was not closed well");
        }
    }
}

async fn by_the_clock(sweep: Arc<Sweep>) {
    let mut ticks = tokio::time::interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            biased;
            () = sweep.stop.cancelled() => return,
            _ = ticks.tick() => {}
        }
        sweep.once().await;
    }
}
