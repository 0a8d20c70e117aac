//! The history that a channel plugin takes in the place of the plain one.

mod calls;
mod forget;
mod target;

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use throughline_conversation_memory::ChannelKind;
use throughline_domain::{Clock, Ids};
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use crate::hot::Hot;
use crate::hydrate::Hydrations;
use crate::line::{Levels, Line, LineLimits};
use crate::report::Report;
use crate::shared::Shared;
use crate::{HistoryConfig, HistoryMetrics, HistorySpool, MemoryWatch};

pub use forget::Purged;

/// What a history is made of.
pub struct Parts {
    /// The channel. One history serves one.
    pub channel: ChannelKind,
    /// Where the memory service is, if it is.
    pub memory: MemoryWatch,
    /// The disk for what waits; without it what waits is lost with the process.
    pub spool: Option<Arc<HistorySpool>>,
    /// What is counted.
    pub metrics: HistoryMetrics,
    /// Now.
    pub clock: Arc<dyn Clock>,
    /// Keys of turns, jitter.
    pub ids: Arc<dyn Ids>,
    /// Limits.
    pub config: HistoryConfig,
}

/// A [`ConversationHistory`](crate::ConversationHistory) whose turns are written behind to conversation memory, and come back from
/// it into scopes that are cold.
///
/// Tenant, user and canvas of a turn come from its [`TurnContext`](crate::TurnContext). Where tenant or user are missing, or
/// there is no memory service, it is the plain history and nothing else.
pub struct DurableConversationHistory {
    shared: Arc<Shared>,
    hydrations: Hydrations,
    tasks: TaskTracker,
    stop: CancellationToken,
    _stopped_when_dropped: DropGuard,
}

/// What was not written when a history was shut down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unfinished {
    /// Turns and clearings that are lost with the process.
    pub in_memory: u64,
    /// Turns and clearings that the next process will write.
    pub on_disk: u64,
}

impl DurableConversationHistory {
    /// Starts a history and the tasks behind it. Must be called within a tokio runtime.
    pub fn start(parts: Parts) -> Self {
        let hot = Arc::new(Hot::new(parts.config.hot));
        let limits = LineLimits {
            entries: parts.config.waiting_turns,
            bytes: parts.config.waiting_bytes,
        };
        let shared = Arc::new(Shared {
            kind: parts.channel,
            memory: parts.memory,
            line: Line::new(limits),
            spool: parts.spool,
            report: Report::new(Arc::clone(&hot), parts.metrics.clone()),
            hot,
            metrics: parts.metrics,
            clock: parts.clock,
            ids: parts.ids,
            config: parts.config,
            shown: Mutex::new(Levels::default()),
            reads_paused: Mutex::new(None),
        });
        let stop = CancellationToken::new();
        let tasks = TaskTracker::new();
        let (own, stopping) = (Arc::clone(&shared), stop.clone());
        tasks.spawn(async move {
            let write = crate::write_behind::write_behind(&own);
            stopping.run_until_cancelled(write).await;
        });
        if let Some(spool) = shared.spool.clone() {
            let (own, stopping) = (Arc::clone(&shared), stop.clone());
            tasks.spawn(async move {
                let drain = crate::spool::drain(&own, &spool);
                stopping.run_until_cancelled(drain).await;
            });
        }
        Self {
            shared,
            hydrations: Hydrations::default(),
            tasks,
            _stopped_when_dropped: stop.clone().drop_guard(),
            stop,
        }
    }

    /// Returns when everything appended before is stored, in the outbox, refused or dropped. While the
    /// store is away that may be never: give it a deadline.
    pub async fn flush(&self) {
        loop {
            self.shared.line.emptied().await;
            let Some(spool) = &self.shared.spool else {
                return;
            };
            spool.emptied().await;
            if self.shared.line.levels().entries() == 0 {
                return;
            }
        }
    }

    /// Returns when everything appended before is out of this process's memory: on disk where there is one,
    /// else as [`flush`](Self::flush) says. After it a `kill -9` loses nothing of that.
    pub async fn secured(&self) {
        self.shared.line.emptied().await;
    }

    /// Writes what waits, for no longer than that, and stops. What is on disk stays there.
    pub async fn shutdown(self, within: Duration) -> Unfinished {
        let _ = tokio::time::timeout(within, self.flush()).await;
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
        let in_memory = self.shared.line.levels().entries();
        let spool = self.shared.spool.as_ref();
        Unfinished {
            in_memory: u64::try_from(in_memory).unwrap_or(u64::MAX),
            on_disk: spool.map_or(0, |spool| spool.waiting()),
        }
    }
}
