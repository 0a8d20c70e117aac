//! Offering what is on disk to the memory service, for as long as the adapter lives.

use std::collections::BTreeMap;
use std::time::Duration;

use throughline_domain::TenantId;
use throughline_spool::{Entry, EntryId, SpoolError, Verdict};
use tokio::time::{Instant, sleep_until};

use super::HistorySpool;
use crate::MemoryService;
use crate::deliver::Job;
use crate::document;
use crate::line::Fate;
use crate::shared::Shared;

/// How often entries that wait for another attempt are looked for.
const LOOK: Duration = Duration::from_secs(10);

/// Set aside: no release of today can read it.
const UNREADABLE: &str = "unreadable";

/// Runs until it is dropped. What it has in hand then is offered again: by this process when its lease has
/// ended, by the next one at once.
pub(crate) async fn drain(shared: &Shared, spool: &HistorySpool) {
    let mut memory = shared.memory.clone();
    let mut failures = 0;
    loop {
        let pause = match shared.memory.service() {
            None => None,
            Some(service) => match round(shared, spool, &service).await {
                Ok(true) => {
                    failures = 0;
                    Some(Duration::ZERO)
                }
                Ok(false) => {
                    failures = 0;
                    spool.caught_up.send_replace(true);
                    Some(LOOK)
                }
                Err(Stuck) => {
                    failures += 1;
                    Some(shared.config.backoff.wait(failures, shared.ids.number()))
                }
            },
        };
        spool.show(&shared.metrics);
        spool.moved.notify_waiters();
        let wake = Instant::now() + pause.unwrap_or_default();
        tokio::select! {
            // A store that is away is not asked more often because more arrives for it.
            () = spool.arrived.notified(), if failures == 0 => {}
            () = memory.changed() => failures = 0,
            () = sleep_until(wake), if pause.is_some() => {}
        }
    }
}

/// The store is away, or the file fails.
struct Stuck;

/// Batches that may fail one after the other before the store counts as away.
const FURTHER: usize = 4;

/// Takes what is due until something got through. Whether there was anything.
async fn round(
    shared: &Shared,
    spool: &HistorySpool,
    service: &MemoryService,
) -> Result<bool, Stuck> {
    let mut any = false;
    let mut alive = false;
    // What failed with nothing else getting through. It stays ours, so that the next batch is another.
    let mut suspects: Vec<(TenantId, Vec<Entry>)> = Vec::new();
    for _ in 0..FURTHER {
        let batch = spool.spool.next_batch(shared.config.batch).await;
        let entries = batch.map_err(|error| unusable(&error))?;
        if entries.is_empty() {
            break;
        }
        any = true;
        for (tenant, entries) in by_tenant(entries) {
            let offered = offer(shared, spool, service, &tenant, entries).await?;
            alive |= offered.through;
            suspects.push((tenant, offered.away));
        }
        if alive {
            break;
        }
    }
    for (tenant, entries) in suspects {
        if alive {
            // It may have come back in between: only a second failure is the turn's own.
            let again = offer(shared, spool, service, &tenant, entries).await?;
            settle(spool, &tenant, again.away.iter().map(failed).collect()).await?;
        } else {
            release(spool, &entries).await;
        }
    }
    if any && !alive { Err(Stuck) } else { Ok(any) }
}

fn by_tenant(entries: Vec<Entry>) -> BTreeMap<TenantId, Vec<Entry>> {
    let mut tenants: BTreeMap<TenantId, Vec<Entry>> = BTreeMap::new();
    for entry in entries {
        let line = tenants.entry(entry.tenant.clone()).or_default();
        line.push(entry);
    }
    tenants
}

/// What came of offering entries.
struct Offered {
    /// Whether any got through.
    through: bool,
    /// Those that failed with nothing else getting through.
    away: Vec<Entry>,
}

/// Offers a tenant's entries, and settles all but those that failed with the whole batch.
async fn offer(
    shared: &Shared,
    spool: &HistorySpool,
    service: &MemoryService,
    tenant: &TenantId,
    entries: Vec<Entry>,
) -> Result<Offered, Stuck> {
    let mut verdicts = Vec::with_capacity(entries.len());
    let mut offered: Vec<Entry> = Vec::with_capacity(entries.len());
    let mut jobs: Vec<Job> = Vec::with_capacity(entries.len());
    for entry in entries {
        if let Some(job) = document::read(&entry.payload, entry.enqueued_at) {
            offered.push(entry);
            jobs.push(job);
        } else {
            verdicts.push((entry.id, Verdict::Reject(UNREADABLE.to_owned())));
        }
    }
    let tries: Vec<u32> = offered.iter().map(|entry| spool.tries(entry)).collect();
    let fates = shared.deliver(service, tenant, jobs, &tries).await;
    let through = fates.contains(&Fate::Done);
    let mut away = Vec::new();
    let mut untried = Vec::new();
    for (entry, fate) in offered.into_iter().zip(fates) {
        spool.tried(entry.id, fate);
        match fate {
            Fate::Done => verdicts.push((entry.id, Verdict::Stored)),
            Fate::Failed => verdicts.push(failed(&entry)),
            Fate::Away => away.push(entry),
            Fate::Untried => untried.push(entry),
        }
    }
    settle(spool, tenant, verdicts).await?;
    release(spool, &untried).await;
    Ok(Offered { through, away })
}

fn failed(entry: &Entry) -> (EntryId, Verdict) {
    (entry.id, Verdict::Retry("unanswered".to_owned()))
}

async fn settle(
    spool: &HistorySpool,
    tenant: &TenantId,
    verdicts: Vec<(EntryId, Verdict)>,
) -> Result<(), Stuck> {
    if verdicts.is_empty() {
        return Ok(());
    }
    let settled = spool.spool.settle(verdicts).await;
    let settled = settled.map_err(|error| unusable(&error))?;
    if settled.set_aside > 0 {
        tracing::error!(
            tenant.id = %tenant, entries = settled.set_aside,
            "turns were set aside in the spool: they failed too often or cannot be read"
        );
    }
    Ok(())
}

/// Untried, as far as their attempts go.
async fn release(spool: &HistorySpool, entries: &[Entry]) {
    if !entries.is_empty() {
        let ids = entries.iter().map(|entry| entry.id).collect();
        // If this fails their lease ends by itself.
        let _ = spool.spool.release(ids).await;
    }
}

fn unusable(error: &SpoolError) -> Stuck {
    let error: &dyn std::error::Error = error;
    tracing::error!(error, "the spool of turns fails; it is tried again");
    Stuck
}
