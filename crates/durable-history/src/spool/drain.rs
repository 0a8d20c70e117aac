//! Offering what is on disk to the memory service, for as long as the adapter lives.

use std::collections::BTreeMap;
use std::time::Duration;

use throughline_domain::TenantId;
use throughline_spool::{Entry, EntryId, SpoolError, Verdict};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::HistorySpool;
use crate::MemoryService;
use crate::deliver::{Delivery, Job};
use crate::document;
use crate::line::Fate;
use crate::shared::Shared;

/// How often entries that wait for another attempt are looked for.
const LOOK: Duration = Duration::from_secs(10);

/// Set aside: no release of today can read it.
const UNREADABLE: &str = "unreadable";

/// Runs until it is told to stop.
pub(crate) async fn drain(shared: &Shared, spool: &HistorySpool, stop: &CancellationToken) {
    let mut memory = shared.memory.clone();
    let mut failures = 0;
    loop {
        let pause = match shared.memory.service() {
            None => None,
            Some(service) => match round(shared, spool, &service, stop).await {
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
                    Some(shared.config.backoff.wait(failures, shared.random()))
                }
            },
        };
        spool.show(&shared.metrics);
        spool.moved.notify_waiters();
        let wake = Instant::now() + pause.unwrap_or_default();
        tokio::select! {
            () = stop.cancelled() => return,
            // A store that is away is not asked more often because more arrives for it.
            () = spool.arrived.notified(), if failures == 0 => {}
            () = memory.changed() => failures = 0,
            () = sleep_until(wake), if pause.is_some() => {}
        }
    }
}

/// The store is away, or the file fails.
struct Stuck;

/// Takes what is due once. Whether there was anything.
async fn round(
    shared: &Shared,
    spool: &HistorySpool,
    service: &MemoryService,
    stop: &CancellationToken,
) -> Result<bool, Stuck> {
    let batch = spool.spool.next_batch(shared.config.batch).await;
    let entries = batch.map_err(|error| unusable(&error))?;
    if entries.is_empty() {
        return Ok(false);
    }
    let mut by_tenant: BTreeMap<TenantId, Vec<Entry>> = BTreeMap::new();
    for entry in entries {
        by_tenant
            .entry(entry.tenant.clone())
            .or_default()
            .push(entry);
    }
    let mut untried = Vec::new();
    let mut away = false;
    for (tenant, entries) in by_tenant {
        if away || stop.is_cancelled() {
            untried.extend(entries.iter().map(|entry| entry.id));
            continue;
        }
        let (verdicts, rest) = offer(shared, service, &tenant, entries).await;
        away = !rest.is_empty() && verdicts.is_empty();
        untried.extend(rest);
        let settled = spool.spool.settle(verdicts).await;
        let settled = settled.map_err(|error| unusable(&error))?;
        if settled.set_aside > 0 {
            tracing::error!(
                tenant.id = %tenant, entries = settled.set_aside,
                "turns were set aside in the spool: they failed too often or cannot be read"
            );
        }
    }
    // If this fails their lease ends by itself.
    let _ = spool.spool.release(untried).await;
    if away { Err(Stuck) } else { Ok(true) }
}

/// What becomes of each entry, and those that go back as they were.
async fn offer(
    shared: &Shared,
    service: &MemoryService,
    tenant: &TenantId,
    entries: Vec<Entry>,
) -> (Vec<(EntryId, Verdict)>, Vec<EntryId>) {
    let mut verdicts = Vec::with_capacity(entries.len());
    let mut offered: Vec<(EntryId, bool)> = Vec::with_capacity(entries.len());
    let mut jobs: Vec<Job> = Vec::with_capacity(entries.len());
    for entry in entries {
        if let Some(job) = document::read(&entry.payload) {
            offered.push((entry.id, entry.attempts > 0));
            jobs.push(job);
        } else {
            verdicts.push((entry.id, Verdict::Reject(UNREADABLE.to_owned())));
        }
    }
    let again: Vec<bool> = offered.iter().map(|(_, again)| *again).collect();
    let delivery = Delivery {
        service,
        tenant,
        deadline: shared.config.call_deadline,
        report: &shared.report,
    };
    let mut rest = Vec::new();
    for ((id, _), fate) in offered.into_iter().zip(delivery.run(jobs, &again).await) {
        match fate {
            Fate::Done => verdicts.push((id, Verdict::Stored)),
            Fate::Failed => verdicts.push((id, Verdict::Retry("unanswered".to_owned()))),
            Fate::Away | Fate::Untried => rest.push(id),
        }
    }
    shared.heed_epoch(service, tenant);
    (verdicts, rest)
}

fn unusable(error: &SpoolError) -> Stuck {
    let error: &dyn std::error::Error = error;
    tracing::error!(error, "the spool of turns fails; it is tried again");
    Stuck
}
