//! The task that takes what waits in the line where it belongs: to disk, if there is one, else to the
//! memory service.

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use throughline_domain::TenantId;
use tokio::time::{Instant, sleep_until};

use crate::MemoryService;
use crate::deliver::Job;
use crate::line::{Fate, LineLimits, Taken, Work};
use crate::shared::Shared;
use crate::spool::{HistorySpool, Spooled};

/// Tenants that are written for at once.
const AT_ONCE: usize = 16;

/// Runs until it is dropped. One write a tenant at a time, so a tenant's order holds; a slow one
/// keeps nobody else waiting.
pub(crate) async fn write_behind(shared: &Shared) {
    let mut memory = shared.memory.clone();
    let mut writes: FuturesUnordered<BoxFuture<'_, ()>> = FuturesUnordered::new();
    loop {
        let next = begin(shared, &mut writes);
        let pause = async {
            match next {
                Some(at) => sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            Some(()) = writes.next(), if !writes.is_empty() => {}
            () = shared.line.arrived() => {}
            () = memory.changed() => shared.line.stop_waiting(),
            () = pause => {}
        }
    }
}

/// Begins the writes that are due. Returns when the next one is.
fn begin<'a>(
    shared: &'a Shared,
    writes: &mut FuturesUnordered<BoxFuture<'a, ()>>,
) -> Option<Instant> {
    let service = shared.memory.service();
    if service.is_none() && shared.spool.is_none() {
        return None;
    }
    let (due, next) = shared.line.due(Instant::now());
    for tenant in due {
        if writes.len() >= AT_ONCE {
            break;
        }
        let most = LineLimits {
            entries: shared.config.batch,
            bytes: shared.config.batch_bytes,
        };
        let taken = shared.line.take(&tenant, most);
        if !taken.is_empty() {
            writes.push(Box::pin(write(shared, service.clone(), tenant, taken)));
        }
    }
    next
}

/// One batch of one tenant.
async fn write(
    shared: &Shared,
    service: Option<MemoryService>,
    tenant: TenantId,
    taken: Vec<Taken>,
) {
    let mut fates: Vec<(u64, Fate)> = Vec::with_capacity(taken.len());
    let mut batch = Batch::default();
    for taken in taken {
        match job(&taken.work) {
            Ok(job) => batch.push(taken.number, job, taken.tries),
            Err(invalid) => {
                shared.report.invalid(&tenant, &invalid);
                fates.push((taken.number, Fate::Done));
            }
        }
    }
    if let Some(spool) = &shared.spool {
        fates.extend(to_disk(shared, spool, &tenant, &mut batch).await);
    }
    match service {
        Some(service) if !batch.jobs.is_empty() => {
            let Batch {
                numbers,
                jobs,
                tries,
            } = batch;
            let delivered = shared.deliver(&service, &tenant, jobs, &tries).await;
            fates.extend(numbers.into_iter().zip(delivered));
        }
        _ => fates.extend(batch.numbers.into_iter().map(|number| (number, Fate::Away))),
    }
    let (backoff, random) = (shared.config.backoff, shared.ids.number());
    let dropped = shared
        .line
        .settle(&tenant, &fates, backoff, random, Instant::now());
    shared.dropped(dropped);
    shared.show_levels();
}

/// Jobs with their places in the line.
#[derive(Default)]
struct Batch {
    numbers: Vec<u64>,
    jobs: Vec<Job>,
    tries: Vec<u32>,
}

impl Batch {
    fn push(&mut self, number: u64, job: Job, tries: u32) {
        self.numbers.push(number);
        self.jobs.push(job);
        self.tries.push(tries);
    }
}

fn job(work: &Work) -> Result<Job, throughline_conversation_memory::InvalidTurn> {
    Ok(match work {
        Work::Append(turn) => Job::Append(Box::new(turn.to_append()?)),
        Work::Clear(scope, at) => Job::Clear(scope.clone(), *at),
    })
}

/// Leaves in the batch what the disk did not take: that goes to the service at once.
async fn to_disk(
    shared: &Shared,
    spool: &HistorySpool,
    tenant: &TenantId,
    batch: &mut Batch,
) -> Vec<(u64, Fate)> {
    let kept = spool.keep(tenant, &batch.jobs, shared.ids.as_ref()).await;
    spool.show(&shared.metrics);
    let Batch {
        numbers,
        jobs,
        tries,
    } = std::mem::take(batch);
    let mut fates = Vec::with_capacity(numbers.len());
    for (((number, job), tries), kept) in numbers.into_iter().zip(jobs).zip(tries).zip(kept) {
        match kept {
            Spooled::Kept => fates.push((number, Fate::Done)),
            Spooled::Conflict => {
                shared.report.conflict(tenant);
                fates.push((number, Fate::Done));
            }
            Spooled::Failed(error) => {
                if tries == 0 {
                    let error: &dyn std::error::Error = &error;
                    tracing::error!(error, "a turn could not be put on disk; it waits in memory");
                }
                batch.push(number, job, tries);
            }
        }
    }
    fates
}
