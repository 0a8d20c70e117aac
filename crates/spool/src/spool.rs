//! The handle callers hold.

use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;
use throughline_domain::{Clock, Ids, TenantId, UserId};
use tokio::sync::{Semaphore, mpsc, oneshot};

use crate::directory;
use crate::engine::{Engine, Opening};
use crate::seal::Sealer;
use crate::worker::{self, Call, WAITING_CALLS, Waiting};
use crate::{
    Drained, Entry, EntryId, Expiry, NewEntry, OpenError, Queued, Removed, Retried, SetAside,
    SpoolConfig, SpoolError, SpoolKey, Stats, StorageFault, Verdict,
};

/// A durable queue in one file. Clones share it; the file is closed when [`Spool::close`] returns, or
/// some time after the last clone is gone.
///
/// Every call may be cancelled: it then took effect or it did not, and the spool is as good as before.
#[derive(Clone)]
pub struct Spool {
    calls: mpsc::Sender<Call>,
    in_flight: Arc<Semaphore>,
    stats: Arc<Mutex<Stats>>,
    config: Arc<SpoolConfig>,
}

impl Spool {
    /// Opens the spool of a directory, which is made if it is not there, readable by its owner alone.
    /// At most one process has it open at a time.
    pub async fn open(
        directory: &Path,
        config: SpoolConfig,
        key: &SpoolKey,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn Ids>,
    ) -> Result<Self, OpenError> {
        let path = directory::file_in(directory);
        let file = path.clone();
        Self::start(config, |config| Opening {
            path,
            open_file: Box::new(move |builder| {
                directory::prepare(&file)?;
                builder.create(&file)
            }),
            sealer: Arc::new(Sealer::new(key)),
            config,
            clock,
            ids,
        })
        .await
    }

    pub(crate) async fn start(
        config: SpoolConfig,
        opening: impl FnOnce(Arc<SpoolConfig>) -> Opening,
    ) -> Result<Self, OpenError> {
        config.check().map_err(OpenError::InvalidConfig)?;
        let config = Arc::new(config);
        let opening = opening(Arc::clone(&config));
        let path = opening.path.clone();
        let storage = |source| OpenError::Storage {
            path: path.clone(),
            source,
        };
        let (calls, received) = mpsc::channel(WAITING_CALLS);
        let (opened, answer) = oneshot::channel();
        let stats = Arc::default();
        worker::start(opening, received, opened, Arc::clone(&stats))
            .map_err(|error| storage(StorageFault::new(error)))?;
        let stopped = |_| storage(StorageFault::new("the thread that opens it stopped"));
        answer.await.map_err(stopped)??;
        let in_flight = Arc::new(Semaphore::new(config.in_flight_bytes as usize));
        Ok(Self {
            calls,
            in_flight,
            stats,
            config,
        })
    }

    /// Keeps an entry. When this returns `Ok` the entry is on disk and survives the process.
    ///
    /// Idempotent: the same key in the same tenant with equal content is the same entry as long as it
    /// is here. Once it was acknowledged the key is free again, so what is drained must be idempotent
    /// at its store too. If the caller stops waiting, or after [`SpoolError::Storage`], it is unknown
    /// whether the entry is kept; repeating the call with the same key settles it.
    pub async fn enqueue(&self, entry: NewEntry) -> Result<Queued, SpoolError> {
        self.hand_in(entry)
            .await?
            .await
            .unwrap_or(Err(SpoolError::Closed))
    }

    /// Keeps entries in the order given: of two with one order key, the later never comes before the
    /// earlier. One answer each, as [`enqueue`](Self::enqueue) gives it; they share their syncs.
    pub async fn enqueue_in_order(
        &self,
        entries: Vec<NewEntry>,
    ) -> Vec<Result<Queued, SpoolError>> {
        // Calling `enqueue` side by side does not do: a runtime may poll what it put off in any order.
        let mut waiting = Vec::with_capacity(entries.len());
        for entry in entries {
            waiting.push(self.hand_in(entry).await);
        }
        let mut answers = Vec::with_capacity(waiting.len());
        for answer in waiting {
            answers.push(match answer {
                Ok(answer) => answer.await.unwrap_or(Err(SpoolError::Closed)),
                Err(error) => Err(error),
            });
        }
        answers
    }

    /// Puts an entry in the thread's line; the answer comes when it is on disk.
    async fn hand_in(
        &self,
        entry: NewEntry,
    ) -> Result<oneshot::Receiver<Result<Queued, SpoolError>>, SpoolError> {
        let limit = u64::from(self.config.max_payload_bytes);
        let bytes = (entry.charge() - crate::ENTRY_OVERHEAD).max(1);
        if bytes > limit {
            return Err(SpoolError::TooLarge { bytes, limit });
        }
        let permits = u32::try_from(bytes).expect("limited by max_payload_bytes, a u32");
        let room = Arc::clone(&self.in_flight)
            .acquire_many_owned(permits)
            .await
            .map_err(|_| SpoolError::Closed)?;
        let (reply, answer) = oneshot::channel();
        self.send(Call::Enqueue(Waiting { entry, reply, room }))
            .await?;
        Ok(answer)
    }

    /// Takes up to `limit` due entries: tenants in turn, each tenant's in the order they came. They
    /// are the caller's alone until the lease ends.
    ///
    /// An entry with an order key comes only when all before it in its [`Lane`](crate::Lane) are out of line or in the
    /// same batch. A caller whose attempt fails leaves the rest of that lane alone and gives it back
    /// with [`Spool::release`]; [`Spool::drain`] does all that.
    pub async fn next_batch(&self, limit: usize) -> Result<Vec<Entry>, SpoolError> {
        let (reply, answer) = oneshot::channel();
        let run = move |worker: &mut worker::Worker| {
            let taken = worker.with(|engine| engine.next_batch(limit));
            if let Err(Ok(unwanted)) = reply.send(taken) {
                // The caller is gone; nobody else needs to wait for its lease to end.
                let ids: Vec<_> = unwanted.iter().map(|entry| entry.id).collect();
                worker.give_back(&ids);
            }
        };
        self.send(Call::Run(Box::new(run))).await?;
        answer.await.unwrap_or(Err(SpoolError::Closed))
    }

    /// Forgets entries that reached their store, in one transaction. Returns how many were still here.
    pub async fn ack(&self, ids: Vec<EntryId>) -> Result<u64, SpoolError> {
        self.run(move |engine| engine.ack(&ids)).await
    }

    /// Counts a failed attempt. The entry waits 30 s × 2^attempts ±20 %, and its lane with it; with the
    /// last attempt allowed it is set aside instead (R-147, T-16, T-17).
    pub async fn retry_later(
        &self,
        id: EntryId,
        error_code: String,
    ) -> Result<Retried, SpoolError> {
        self.run(move |engine| engine.retry_later(id, &error_code))
            .await
    }

    /// Takes an entry that its store will never take out of line, so that it blocks nothing (T-38).
    /// False if it was not in line any more.
    pub async fn set_aside(&self, id: EntryId, reason: String) -> Result<bool, SpoolError> {
        self.run(move |engine| engine.set_aside(id, &reason)).await
    }

    /// Does to every entry of a batch what its verdict says, in one transaction: acknowledge, retry
    /// later, set aside, or give back untried ([`Verdict::Away`]).
    pub async fn settle(&self, verdicts: Vec<(EntryId, Verdict)>) -> Result<Drained, SpoolError> {
        self.run(move |engine| engine.settle(&verdicts)).await
    }

    /// Gives entries back that were not tried, as when the whole store is away: no attempt is counted.
    pub async fn release(&self, ids: Vec<EntryId>) -> Result<(), SpoolError> {
        self.run(move |engine| {
            engine.release(&ids);
            Ok(())
        })
        .await
    }

    /// Removes every entry that carries this user, in line or set aside. Entries that carry none are
    /// left for the fence at their store.
    pub async fn forget_user(&self, tenant: TenantId, user: UserId) -> Result<Removed, SpoolError> {
        self.run(move |engine| engine.forget_user(&tenant, user))
            .await
    }

    /// Which of a tenant's entries, in line or set aside, a caller recognises by their content: those
    /// about somebody who was not resolved when they came. Reads all the tenant has, so it is for what
    /// is rare. An entry whose seal is broken is not found.
    pub async fn find(
        &self,
        tenant: TenantId,
        wanted: impl Fn(&Entry) -> bool + Send + 'static,
    ) -> Result<Vec<EntryId>, SpoolError> {
        self.run(move |engine| engine.find(&tenant, wanted)).await
    }

    /// Removes these entries of a tenant, in line, handed out or set aside.
    pub async fn forget(&self, tenant: TenantId, ids: Vec<EntryId>) -> Result<Removed, SpoolError> {
        self.run(move |engine| engine.forget(&tenant, &ids)).await
    }

    /// Removes every entry of a tenant.
    pub async fn forget_tenant(&self, tenant: TenantId) -> Result<Removed, SpoolError> {
        self.run(move |engine| engine.forget_tenant(&tenant)).await
    }

    /// Removes entries that were kept long enough.
    pub async fn expire(&self, expiry: Expiry) -> Result<Removed, SpoolError> {
        self.run(move |engine| engine.expire(&expiry)).await
    }

    /// Entries set aside, without their content, oldest first, after a place in that order.
    pub async fn list_set_aside(
        &self,
        tenant: Option<TenantId>,
        after: Option<EntryId>,
        limit: usize,
    ) -> Result<Vec<SetAside>, SpoolError> {
        self.run(move |engine| engine.list_set_aside(tenant.as_ref(), after, limit))
            .await
    }

    /// One entry with its content. `None` if the tenant has none of this id or its seal is broken.
    pub async fn read(&self, tenant: TenantId, id: EntryId) -> Result<Option<Entry>, SpoolError> {
        self.run(move |engine| engine.read(&tenant, id)).await
    }

    /// Puts entries that were set aside back in line, at the place they had, due at once, with no
    /// attempt counted. Returns how many.
    pub async fn requeue(&self, tenant: TenantId, ids: Vec<EntryId>) -> Result<u64, SpoolError> {
        self.run(move |engine| engine.requeue(&tenant, &ids)).await
    }

    /// Throws entries that were set aside away. Returns how many.
    pub async fn discard(&self, tenant: TenantId, ids: Vec<EntryId>) -> Result<u64, SpoolError> {
        self.run(move |engine| engine.discard(&tenant, &ids)).await
    }

    /// Throws away what is left of entries with damaged heads. Returns how many.
    pub async fn discard_unreadable(&self) -> Result<u64, SpoolError> {
        self.run(Engine::discard_unreadable).await
    }

    /// What a tenant's entries are charged.
    pub async fn used_by(&self, tenant: TenantId) -> Result<u64, SpoolError> {
        self.run(move |engine| Ok(engine.index().used_by(&tenant)))
            .await
    }

    /// The figures after the latest change. Does not wait for the file.
    pub fn stats(&self) -> Stats {
        *self.stats.lock()
    }

    /// The most bytes it takes in all.
    pub fn max_bytes(&self) -> u64 {
        self.config.max_bytes
    }

    /// Gives free pages back to the system; worth it after a long outage was drained. Nothing is
    /// taken in meanwhile. True if the file shrank.
    pub async fn compact(&self) -> Result<bool, SpoolError> {
        self.run(Engine::compact).await
    }

    /// Serves what was called before, closes the file and returns; calls after it get
    /// [`SpoolError::Closed`].
    pub async fn close(&self) -> Result<(), SpoolError> {
        let (reply, answer) = oneshot::channel();
        match self.send(Call::Close(reply)).await {
            Ok(()) => answer.await.unwrap_or(Ok(())),
            Err(_) => Ok(()),
        }
    }

    async fn run<T: Send + 'static>(
        &self,
        call: impl FnOnce(&mut Engine) -> Result<T, SpoolError> + Send + 'static,
    ) -> Result<T, SpoolError> {
        let (reply, answer) = oneshot::channel();
        let run = Box::new(move |worker: &mut worker::Worker| {
            let _ = reply.send(worker.with(call));
        });
        self.send(Call::Run(run)).await?;
        answer.await.unwrap_or(Err(SpoolError::Closed))
    }

    async fn send(&self, call: Call) -> Result<(), SpoolError> {
        self.calls.send(call).await.map_err(|_| SpoolError::Closed)
    }
}
