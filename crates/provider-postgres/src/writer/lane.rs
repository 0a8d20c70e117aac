//! One writer: its queue, and the task that empties it while there is something in it. A turn whose user
//! is held by a merge or an erasure is put aside, so that nobody else's waits for it.

use std::sync::Arc;

use parking_lot::Mutex;
use throughline_conversation_memory::NewTurn;
use throughline_domain::TenantId;
use tokio_util::task::TaskTracker;

use super::Waiting;
use super::aside::Aside;
use super::queue::{Bounds, Queue, Weigh};
use super::waiting::Queued;
use crate::config::WriterOptions;
use crate::memory::{Appender, BYTES, ROWS, Row, append_free_rows};

/// A writer. At most one task works for it at a time.
pub(super) struct Lane {
    appender: Arc<Appender>,
    state: Mutex<State>,
    aside: Arc<Aside>,
    bounds: Bounds,
}

struct State {
    queue: Queue<Queued>,
    working: bool,
    closed: bool,
}

impl Weigh for Queued {
    fn bytes(&self) -> u64 {
        self.turn.bytes()
    }
}

impl Lane {
    /// An idle writer with its share of the queue.
    pub(super) fn new(appender: Arc<Appender>, options: WriterOptions) -> Self {
        let bounds = Bounds {
            rows: options.queue_turns.div_ceil(options.writers),
            bytes: options.queue_bytes / u64::try_from(options.writers).unwrap_or(1),
            batch_rows: ROWS,
            batch_bytes: BYTES,
            one_tenant_each: options.one_tenant_each,
        };
        Self {
            aside: Arc::new(Aside::new(&appender)),
            bounds,
            appender,
            state: Mutex::new(State {
                queue: Queue::new(bounds),
                working: false,
                closed: false,
            }),
        }
    }

    /// Queues the turns and sees to it that somebody works. Once one finds no room, those behind it
    /// are refused too: the turns of one call are stored in their order.
    pub(super) fn enqueue(
        self: &Arc<Self>,
        tenant: &TenantId,
        turns: Vec<NewTurn>,
        tasks: &TaskTracker,
    ) -> Vec<Waiting> {
        let mut waiting = Vec::with_capacity(turns.len());
        let (mut refused, mut begin) = (None, false);
        {
            let mut state = self.state.lock();
            if state.closed {
                refused = Some("the store is being closed");
            } else if self.aside.len() >= self.bounds.rows {
                refused = Some("too many turns wait for users who are held");
            }
            let before = state.queue.len();
            for turn in turns {
                if let Some(why) = refused {
                    waiting.push(Waiting::refused(&turn, why));
                    continue;
                }
                let (queued, caller) = Queued::new(turn);
                match state.queue.push(tenant, queued) {
                    Ok(()) => waiting.push(caller),
                    Err(queued) => {
                        let why = "too many turns wait to be stored";
                        refused = Some(why);
                        waiting.push(Waiting::refused(&queued.turn, why));
                    }
                }
            }
            let queued = state.queue.len() - before;
            self.appender.sessions.metrics.writer.queued(queued);
            if queued > 0 && !state.working {
                state.working = true;
                begin = true;
            }
        }
        let full = waiting.iter().filter(|caller| caller.is_refused()).count();
        self.appender.sessions.metrics.writer.refused(full);
        if begin {
            tasks.spawn(Self::work(self.clone(), tasks.clone()));
        }
        waiting
    }

    /// No more turns from now on; what waits is still written.
    pub(super) fn close(&self) {
        self.state.lock().closed = true;
    }

    #[cfg(test)]
    pub(super) fn queued(&self) -> usize {
        self.state.lock().queue.len()
    }

    async fn work(self: Arc<Self>, tasks: TaskTracker) {
        let _at_work = AtWork(&self);
        loop {
            // Whoever was just answered, or has come along with the first, sends the next turn at once: one
            // look round at them, and their turns are in this batch and not behind it.
            tokio::task::yield_now().await;
            let Some(batch) = self.next() else { break };
            self.write(batch, &tasks).await;
        }
    }

    /// What is written next; with `None` the writer has ended its work.
    fn next(&self) -> Option<Vec<(TenantId, Queued)>> {
        let mut state = self.state.lock();
        loop {
            let batch = state.queue.take();
            if batch.is_empty() {
                // Under the lock: whoever queues next begins the work again.
                state.working = false;
                return None;
            }
            self.appender.sessions.metrics.writer.taken(batch.len());
            // Behind the others of a user who is held: the turns of a call are stored in their order.
            let batch = batch.into_iter().filter_map(|row| self.aside.behind(row));
            let batch: Vec<_> = batch.filter(|(_, row)| row.take()).collect();
            if !batch.is_empty() {
                return Some(batch);
            }
        }
    }

    async fn write(&self, batch: Vec<(TenantId, Queued)>, tasks: &TaskTracker) {
        self.appender.sessions.metrics.writer.wrote(batch.len());
        let rows: Vec<Row<'_>> = batch
            .iter()
            .map(|(tenant, queued)| Row {
                tenant,
                turn: &queued.turn,
            })
            .collect();
        let answers = append_free_rows(&self.appender, &rows).await;
        let mut held = Vec::new();
        for (row, answer) in batch.into_iter().zip(answers) {
            match answer {
                Some(answer) => row.1.answer(answer),
                None => held.push(row),
            }
        }
        Aside::put(&self.aside, held, tasks);
    }
}

/// Should the work end by a panic, the next turn that comes begins it again.
struct AtWork<'a>(&'a Lane);

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.state.lock().working = false;
        }
    }
}
