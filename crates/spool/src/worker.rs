//! The one thread that touches the file. It gathers entries that arrive close together into one
//! transaction and runs everything else in the order it came.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};
use tokio::time::{Instant, timeout_at};

use crate::engine::{Engine, Opening};
use crate::stats::Stats;
use crate::{EntryId, NewEntry, OpenError, Queued, SpoolConfig, SpoolError, StorageFault};

/// Calls that may wait for the thread before further callers wait outside.
pub(crate) const WAITING_CALLS: usize = 1024;

pub(crate) enum Call {
    Enqueue(Waiting),
    Run(Box<dyn FnOnce(&mut Worker) + Send>),
    Close(oneshot::Sender<Result<(), SpoolError>>),
}

/// An entry whose caller waits for it to be on disk.
pub(crate) struct Waiting {
    pub(crate) entry: NewEntry,
    pub(crate) reply: oneshot::Sender<Result<Queued, SpoolError>>,
    /// The share of the in-flight bytes it holds until it is answered.
    pub(crate) room: OwnedSemaphorePermit,
}

pub(crate) struct Worker {
    opening: Opening,
    engine: Option<Engine>,
    stats: Arc<Mutex<Stats>>,
    /// Syncs of engines before the present one.
    past_commits: u64,
    last_flush: Option<Instant>,
}

/// Opens the file on a new thread, says how that went, and serves calls until it is told to close or
/// nobody can call any more.
pub(crate) fn start(
    opening: Opening,
    calls: mpsc::Receiver<Call>,
    opened: oneshot::Sender<Result<(), OpenError>>,
    stats: Arc<Mutex<Stats>>,
) -> std::io::Result<()> {
    // A runtime of its own, for the clock that ends the gathering: the file's work blocks it and
    // nothing else.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()?;
    std::thread::Builder::new()
        .name("spool".to_owned())
        .spawn(move || {
            let engine = match opening.open() {
                Ok(engine) => engine,
                Err(error) => {
                    let _ = opened.send(Err(error));
                    return;
                }
            };
            let mut worker = Worker {
                opening,
                engine: Some(engine),
                stats,
                past_commits: 0,
                last_flush: None,
            };
            worker.publish();
            if opened.send(Ok(())).is_ok() {
                runtime.block_on(worker.serve(calls));
            }
        })?;
    Ok(())
}

impl Worker {
    async fn serve(mut self, mut calls: mpsc::Receiver<Call>) {
        let mut closers = Vec::new();
        let mut next = calls.recv().await;
        while let Some(call) = next.take() {
            match call {
                Call::Enqueue(first) => {
                    let (group, after) = self.gather(first, &mut calls).await;
                    self.flush(group);
                    next = after;
                }
                Call::Run(run) => run(&mut self),
                Call::Close(reply) => {
                    // What was sent before is still served, nothing is taken any more.
                    calls.close();
                    closers.push(reply);
                }
            }
            if next.is_none() {
                next = calls.recv().await;
            }
        }
        let closed = self.engine.take().map_or(Ok(()), Engine::close);
        for closer in closers {
            let _ = closer.send(closed.clone());
        }
    }

    /// Waits for company until a sync is due or enough came. Also returns the call that ended it.
    async fn gather(
        &self,
        first: Waiting,
        calls: &mut mpsc::Receiver<Call>,
    ) -> (Vec<Waiting>, Option<Call>) {
        let SpoolConfig {
            flush_entries,
            flush_interval,
            ..
        } = *self.opening.config;
        let due = self
            .last_flush
            .map_or_else(Instant::now, |last| last + flush_interval);
        let mut group = vec![first];
        while group.len() < flush_entries {
            // Past the due time this still takes what waits already.
            match timeout_at(due, calls.recv()).await {
                Ok(Some(Call::Enqueue(waiting))) => group.push(waiting),
                Ok(other) => return (group, other),
                Err(_) => break,
            }
        }
        (group, None)
    }

    fn flush(&mut self, mut group: Vec<Waiting>) {
        // Whoever stopped waiting was promised nothing, and repeats with the same key if it matters.
        group.retain(|waiting| !waiting.reply.is_closed());
        if group.is_empty() {
            return;
        }
        let entries: Vec<&NewEntry> = group.iter().map(|waiting| &waiting.entry).collect();
        // Counted from its beginning: while one sync runs the next group gathers.
        self.last_flush = Some(Instant::now());
        let answers = self.with(|engine| engine.enqueue(&entries));
        match answers {
            Ok(answers) => {
                for (Waiting { reply, room, .. }, answer) in group.into_iter().zip(answers) {
                    drop(room);
                    let _ = reply.send(answer);
                }
            }
            Err(error) => {
                for Waiting { reply, .. } in group {
                    let _ = reply.send(Err(error.clone()));
                }
            }
        }
    }

    /// Runs one call on the engine. After a failure of the file the engine is dropped, as its index
    /// may say more than the file holds; the next call opens the file anew.
    pub(crate) fn with<T>(
        &mut self,
        call: impl FnOnce(&mut Engine) -> Result<T, SpoolError>,
    ) -> Result<T, SpoolError> {
        let engine = match &mut self.engine {
            Some(engine) => engine,
            none => none.insert(
                self.opening
                    .open()
                    .map_err(|error| SpoolError::Storage(StorageFault::new(error)))?,
            ),
        };
        let result = catch_unwind(AssertUnwindSafe(|| call(engine))).unwrap_or_else(|_| {
            Err(SpoolError::Storage(StorageFault::new(
                "reading the file made the thread panic",
            )))
        });
        if matches!(result, Err(SpoolError::Storage(_))) {
            let failed = self.engine.take();
            self.past_commits += failed.map_or(0, |engine| engine.stats().commits_total);
        } else {
            self.publish();
        }
        result
    }

    pub(crate) fn give_back(&mut self, ids: &[EntryId]) {
        if let Some(engine) = &mut self.engine {
            engine.release(ids);
        }
    }

    fn publish(&mut self) {
        if let Some(engine) = &self.engine {
            let mut stats = engine.stats();
            stats.commits_total += self.past_commits;
            *self.stats.lock() = stats;
        }
    }
}
