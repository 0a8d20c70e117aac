//! Group commit: turns queue, and a few writers take whatever has queued and commit it together.
//!
//! Nobody lingers for more to come: one caller alone pays for a hand-over and nothing else, and the
//! more callers there are, the more turns share a commit. Whoever is held by a merge or an erasure is
//! waited for aside, and alone. Each tenant belongs to one writer, so two
//! writers never wait for the same rows (`docs/adr/0040`).

mod aside;
mod lane;
mod metrics;
mod queue;
mod waiting;

use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::time::Duration;

use throughline_conversation_memory::{AppendError, Cause, NewTurn};
use throughline_domain::TenantId;
use tokio_util::task::TaskTracker;

use self::lane::Lane;
use self::waiting::Waiting;
use crate::config::WriterOptions;
use crate::memory::{Answer, Appender};

pub(crate) use self::metrics::WriterMetrics;

/// The queues and the tasks that empty them.
pub(crate) struct Writer {
    lanes: Vec<Arc<Lane>>,
    hasher: RandomState,
    tasks: TaskTracker,
    /// How long a turn may wait before a writer takes it.
    patience: Duration,
}

impl Writer {
    /// Starts nothing: a writer is at work only while something waits.
    pub(crate) fn new(
        appender: &Arc<Appender>,
        options: WriterOptions,
        patience: Duration,
    ) -> Self {
        let lanes = (0..options.writers)
            .map(|_| Arc::new(Lane::new(appender.clone(), options)))
            .collect();
        Self {
            lanes,
            hasher: RandomState::new(),
            tasks: TaskTracker::new(),
            patience,
        }
    }

    /// One answer a turn, in their order. A caller that goes away takes back what no writer has
    /// begun with; what one has begun with is stored or not as if the caller had stayed.
    pub(crate) async fn append(&self, tenant: &TenantId, turns: Vec<NewTurn>) -> Vec<Answer> {
        let lane = &self.lanes[self.lane_of(tenant)];
        let waiting = lane.enqueue(tenant, turns, &self.tasks);
        let deadline = tokio::time::Instant::now() + self.patience;
        let mut answers = Vec::with_capacity(waiting.len());
        for waiting in waiting {
            answers.push(waiting.answer(deadline).await);
        }
        answers
    }

    /// Takes no more turns, and returns when each one that waits has its answer.
    pub(crate) async fn close(&self) {
        for lane in &self.lanes {
            lane.close();
        }
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Turns that wait.
    #[cfg(test)]
    pub(crate) fn queued(&self) -> usize {
        self.lanes.iter().map(|lane| lane.queued()).sum()
    }

    fn lane_of(&self, tenant: &TenantId) -> usize {
        let hash = self.hasher.hash_one(tenant.as_str());
        let lanes = u64::try_from(self.lanes.len()).unwrap_or(1);
        usize::try_from(hash % lanes).unwrap_or(0)
    }
}

/// Not stored, and safe to send again with the same key.
fn not_stored(key: &throughline_conversation_memory::ClientMessageId, why: &'static str) -> Answer {
    Err(AppendError::Transport {
        key: key.clone(),
        cause: Cause::text(why),
    })
}
