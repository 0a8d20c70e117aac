//! The disk behind the line: with it, what waits survives the process (D-15).

mod drain;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use throughline_domain::{Clock, Ids, TenantId, UserId};
use throughline_spool::{
    Entry, EntryId, NewEntry, OpenError, Overflow, Queued, Spool, SpoolConfig, SpoolError, SpoolKey,
};
use tokio::sync::{Notify, watch};

use crate::config::BATCH_BYTES;
use crate::deliver::Job;
use crate::document;
use crate::line::Fate;
use crate::metrics::HistoryMetrics;

pub(crate) use drain::drain;

/// Entries whose failures are remembered; only what is offered again and again is among them.
const REMEMBERED: usize = 4_096;

/// A spool of turns, for one or several adapters of one process. Each turn is on disk before it is
/// offered to the store and leaves when the store has it, so a process that is killed loses only what it
/// had not written yet: the turns of about the last 20 milliseconds.
pub struct HistorySpool {
    spool: Spool,
    /// The spool's own count of dropped entries, as far as it went into the metrics.
    dropped: AtomicU64,
    /// Entries that failed while nothing got through: the file does not count that.
    failed: Mutex<HashMap<EntryId, u32>>,
    arrived: Notify,
    moved: Notify,
    /// Whether everything an earlier process left was offered once.
    caught_up: watch::Sender<bool>,
}

/// What became of work that was to be put on disk.
pub(crate) enum Spooled {
    /// It is there.
    Kept,
    /// Another turn waits under its key.
    Conflict,
    /// It is not there.
    Failed(SpoolError),
}

impl HistorySpool {
    /// Opens the spool of a directory. Whatever the configuration says, one that is full drops the oldest and
    /// counts it, as a channel must not stop, and hands out no more than a write carries.
    pub async fn open(
        directory: &Path,
        config: SpoolConfig,
        key: &SpoolKey,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn Ids>,
    ) -> Result<Arc<Self>, OpenError> {
        let config = SpoolConfig {
            overflow: Overflow::DropOldest,
            batch_bytes: config.batch_bytes.min(BATCH_BYTES as u64),
            ..config
        };
        let spool = Spool::open(directory, config, key, clock, ids).await?;
        let stats = spool.stats();
        Ok(Arc::new(Self {
            dropped: AtomicU64::new(stats.dropped_total),
            spool,
            failed: Mutex::default(),
            arrived: Notify::new(),
            moved: Notify::new(),
            caught_up: watch::Sender::new(stats.pending.entries == 0),
        }))
    }

    /// The spool itself, for whoever looks after what was set aside in it.
    pub fn spool(&self) -> &Spool {
        &self.spool
    }

    /// Closes the file. For the host, once its adapters are shut down.
    pub async fn close(&self) -> Result<(), SpoolError> {
        self.spool.close().await
    }

    /// Puts work on disk, in this order, in as few syncs as can be.
    pub(crate) async fn keep(
        &self,
        tenant: &TenantId,
        jobs: &[Job],
        ids: &dyn Ids,
    ) -> Vec<Spooled> {
        let entries = jobs.iter().map(|job| entry(tenant, job, ids)).collect();
        let kept = self.spool.enqueue_in_order(entries).await;
        self.arrived.notify_one();
        let spooled = |queued| match queued {
            Ok(Queued::New(_) | Queued::Again(_) | Queued::SetAside(_)) => Spooled::Kept,
            Err(SpoolError::KeyConflict(_)) => Spooled::Conflict,
            Err(error) => Spooled::Failed(error),
        };
        kept.into_iter().map(spooled).collect()
    }

    pub(crate) async fn forget_user(
        &self,
        tenant: &TenantId,
        user: UserId,
    ) -> Result<u64, SpoolError> {
        let removed = self.spool.forget_user(tenant.clone(), user).await?;
        self.moved.notify_waiters();
        Ok(removed.pending + removed.set_aside)
    }

    /// How often an entry failed, for itself or with all others.
    fn tries(&self, entry: &Entry) -> u32 {
        let failed = self.failed.lock().get(&entry.id).copied();
        entry.attempts + failed.unwrap_or(0)
    }

    fn tried(&self, id: EntryId, fate: Fate) {
        let mut failed = self.failed.lock();
        match fate {
            Fate::Away => {
                if failed.len() >= REMEMBERED {
                    failed.clear();
                }
                *failed.entry(id).or_default() += 1;
            }
            Fate::Done => {
                failed.remove(&id);
            }
            Fate::Failed | Fate::Untried => {}
        }
    }

    /// Entries that wait to be stored.
    pub(crate) fn waiting(&self) -> u64 {
        self.spool.stats().pending.entries
    }

    /// Returns when what an earlier process left was offered to the store.
    pub(crate) async fn caught_up(&self) {
        let mut caught_up = self.caught_up.subscribe();
        // The sender lives as long as `self`.
        let _ = caught_up.wait_for(|done| *done).await;
    }

    /// Returns when nothing waits on disk.
    pub(crate) async fn emptied(&self) {
        loop {
            let moved = self.moved.notified();
            tokio::pin!(moved);
            moved.as_mut().enable();
            if self.waiting() == 0 {
                return;
            }
            moved.await;
        }
    }

    /// Brings the metrics up to date.
    pub(crate) fn show(&self, metrics: &HistoryMetrics) {
        let stats = self.spool.stats();
        metrics.spool(&stats);
        let before = self
            .dropped
            .fetch_max(stats.dropped_total, Ordering::SeqCst);
        metrics.dropped(stats.dropped_total.saturating_sub(before));
    }
}

fn entry(tenant: &TenantId, job: &Job, ids: &dyn Ids) -> NewEntry {
    let scope = job.scope();
    // A kind has no NUL, so no two scopes share a lane.
    let order = format!("{}\0{}", scope.kind().as_str(), scope.id());
    let (user, key, digest, payload) = match job {
        Job::Append(append) => {
            let turn = append.turn();
            let (key, digest) = (turn.key().as_str().to_owned(), *turn.digest().as_bytes());
            (
                append.user(),
                key,
                Some(digest),
                append.encode().into_bytes(),
            )
        }
        Job::Clear(scope, at) => {
            let key = format!("clear:{}", ids.ulid(*at));
            (None, key, None, document::clearing(scope, *at))
        }
    };
    NewEntry {
        tenant: tenant.clone(),
        user,
        key,
        order: Some(order),
        digest,
        payload,
    }
}
