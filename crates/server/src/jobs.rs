//! Which jobs there are and when they run. A new job is one line here.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use prometheus::Registry;
use throughline_api::{JobAsk, JobControl, JobRefusal};
use throughline_append_queue::{Deps, Report as Drained};
use throughline_conversation_memory::{
    Chunk, ConversationMemory, Leases, MemoryError, Outbox, OutboxError, RedactionQueue, Retention,
    RetentionError,
};
use throughline_domain::{SystemClock, SystemIds};
use throughline_jobs::{
    Gc, GcLag, GcMetrics, GcParts, GcSettings, Job, Jobs, Outcome, Reconcile, Redaction, Report,
    Request, Runner, Schedule, TriggerError, Visiting,
};
use throughline_platform_identity::{IdentityError, PlatformIdentity};
use throughline_redacted_memory::{Scanner, Sweep as RedactionSweep};
use throughline_tenancy::{Tenancy, TenancyError};
use throughline_wire::{JobDoneBody, JobRunAnswer, OutboxRunAnswer};

use crate::failure::Failure;
use crate::settings::Settings;
use crate::{queue, service};

const MINUTE: Duration = Duration::from_mins(1);
/// The job that empties the queue of appends.
const OUTBOX: &str = "outbox";

/// What some jobs work with beside the store.
pub(crate) struct Work<'a> {
    pub(crate) scanner: &'a Scanner,
    pub(crate) drain: Deps,
}

/// Starts every job over the store.
pub(crate) async fn start<S>(
    store: &Arc<S>,
    settings: &Settings,
    registry: &Registry,
    work: Work<'_>,
) -> Result<Arc<Jobs>, Failure>
where
    S: Tenancy + Retention + Leases + RedactionQueue + 'static,
{
    let parts = gc_parts(store, settings, registry).map_err(|error| unusable(&error))?;
    let scan = RedactionSweep::new(store.clone(), work.scanner.clone(), parts.clock.clone());
    let (clock, metrics) = (parts.clock.clone(), parts.metrics.clone());
    let runner = Runner::new(clock.clone(), parts.ids.clone(), registry);
    let runner = runner.map_err(|error| unusable(&error))?;
    let on = throughline_jobs::Settings::on;
    let own = if settings.gc_enabled.0 {
        Schedule::Every(MINUTE)
    } else {
        Schedule::Off
    };
    let weekly = Schedule::Cron(settings.reconcile_cron.0.clone());
    let jobs = runner
        .with(
            Arc::new(Gc::new(parts.clone(), Visiting::AtServiceTime)),
            on(gc_schedule(settings)),
        )
        .with(Arc::new(Gc::new(parts, Visiting::AtTheirOwnTime)), on(own))
        .with(
            Arc::new(GcLag::new(store.clone(), clock, metrics.clone())),
            on(Schedule::Every(MINUTE)),
        )
        .with(
            Arc::new(Reconcile::new(store.clone(), store.clone(), metrics)),
            on(weekly),
        )
        .with(
            Arc::new(Redaction::widening(scan.clone())),
            scanning(settings),
        )
        .with(Arc::new(Redaction::narrowing(scan)), on(Schedule::Off))
        .with(
            Arc::new(throughline_jobs::Outbox::new(work.drain)),
            draining(),
        );
    let started = jobs.start(settings.jobs.0).await;
    Ok(Arc::new(started.map_err(|error| unusable(&error))?))
}

fn unusable(error: &(dyn std::error::Error + 'static)) -> Failure {
    Failure::caused("jobs_unusable", "jobs cannot be started", error)
}

/// An interval wins over the cron text.
fn gc_schedule(settings: &Settings) -> Schedule {
    match &settings.gc_interval {
        _ if !settings.gc_enabled.0 => Schedule::Off,
        Some(interval) => Schedule::Every(interval.0.max(Duration::from_secs(1))),
        None => Schedule::Cron(settings.gc_cron.0.clone()),
    }
}

/// A turn that waits is read by nobody, so this one starts on the dot, or nearly.
fn scanning(settings: &Settings) -> throughline_jobs::Settings {
    let interval = settings.redaction_interval.0.max(Duration::from_secs(1));
    throughline_jobs::Settings {
        jitter: Duration::from_millis(250),
        ..throughline_jobs::Settings::on(Schedule::Every(interval))
    }
}

/// Every ten seconds (T-17), and within the time that a lease on an entry lasts.
fn draining() -> throughline_jobs::Settings {
    throughline_jobs::Settings {
        schedule: Schedule::Every(Duration::from_secs(10)),
        budget: Duration::from_secs(30),
        timeout: Duration::from_secs(90),
        jitter: Duration::from_secs(1),
    }
}

fn gc_parts<S>(
    store: &Arc<S>,
    settings: &Settings,
    registry: &Registry,
) -> Result<GcParts, prometheus::Error>
where
    S: Tenancy + Retention + Leases + 'static,
{
    Ok(GcParts {
        tenancy: store.clone(),
        retention: store.clone(),
        leases: store.clone(),
        clock: Arc::new(SystemClock),
        ids: Arc::new(SystemIds),
        metrics: GcMetrics::register(registry)?,
        settings: GcSettings {
            chunk: Chunk::new(settings.gc_chunk.0),
            ..GcSettings::default()
        },
    })
}

/// The sweep as a job of its own, beside whatever service runs.
pub(crate) fn gc<S>(store: &Arc<S>, settings: &Settings) -> Result<Arc<dyn Job>, Failure>
where
    S: Tenancy + Retention + Leases + 'static,
{
    let parts = gc_parts(store, settings, &Registry::new());
    let parts = parts.map_err(|error| unusable(&error))?;
    Ok(Arc::new(Gc::new(parts, Visiting::AtServiceTime)))
}

/// What waits in the outbox, as a job of its own. A spool belongs to the service that has it open.
pub(crate) fn outbox<S>(store: &Arc<S>) -> Result<Arc<dyn Job>, Failure>
where
    S: Tenancy + PlatformIdentity + ConversationMemory + Outbox + RedactionQueue + 'static,
{
    let registry = Registry::new();
    let parts = service::queue_parts(store, &service::scanner(&registry)?, &registry)?;
    let drain = queue::drain_of_the_outbox(parts, &registry)?;
    Ok(Arc::new(throughline_jobs::Outbox::new(drain)))
}

/// What a run answers to an operator.
pub(crate) fn answer(job: &str, dry_run: bool, report: &Report) -> JobRunAnswer {
    let done = report.done.iter().map(|done| JobDoneBody {
        tenant: done.tenant.clone(),
        pass: done.pass.to_owned(),
        rows: done.rows,
        bytes: done.bytes,
    });
    JobRunAnswer {
        job: job.to_owned(),
        outcome: report.outcome.as_str().to_owned(),
        dry_run,
        tenants: report.tenants,
        left_to_others: report.left_to_others,
        done: done.collect(),
        queue: report.queue.map(queue_answer),
    }
}

/// The jobs as the HTTP surface asks for them.
pub(crate) struct Asked(pub(crate) Arc<Jobs>);

#[async_trait]
impl JobControl for Asked {
    async fn run_now(&self, job: &str, ask: JobAsk) -> Result<JobRunAnswer, JobRefusal> {
        if job == OUTBOX {
            for_all_of_it(&ask)?;
        }
        let dry_run = ask.dry_run;
        let request = Request {
            dry_run,
            tenant: ask.tenant,
        };
        match self.0.trigger_now(job, request).await {
            Ok(Report {
                outcome: Outcome::Failed(error),
                ..
            }) if away(&*error) => Err(JobRefusal::Away(error)),
            Ok(Report {
                outcome: Outcome::Failed(error),
                ..
            }) => Err(JobRefusal::Broken(error)),
            Ok(report) => Ok(answer(job, dry_run, &report)),
            Err(TriggerError::UnknownJob(_)) => Err(JobRefusal::UnknownJob(self.0.names())),
            Err(TriggerError::Running) => Err(JobRefusal::Running),
            Err(TriggerError::Stopping) => Err(JobRefusal::Stopping),
            Err(error @ TriggerError::Broken) => Err(JobRefusal::Broken(Box::new(error))),
        }
    }
}

/// Whether a job failed for no other reason than a store that did not answer.
fn away(error: &(dyn Error + 'static)) -> bool {
    let mut chain = std::iter::successors(Some(error), |error| Error::source(*error));
    chain.any(|link| {
        matches!(link.downcast_ref(), Some(MemoryError::Unavailable(_)))
            || matches!(
                link.downcast_ref(),
                Some(RetentionError::Memory(MemoryError::Unavailable(_)))
            )
            || matches!(link.downcast_ref(), Some(IdentityError::Unavailable(_)))
            || matches!(link.downcast_ref(), Some(TenancyError::Unavailable(_)))
            || matches!(link.downcast_ref(), Some(OutboxError::Unavailable(_)))
    })
}

/// The queue of appends is emptied for everybody, or not at all.
fn for_all_of_it(ask: &JobAsk) -> Result<(), JobRefusal> {
    let refused = |parameter, detail| Err(JobRefusal::CannotBeAsked { parameter, detail });
    if ask.dry_run {
        let detail = "the job outbox cannot be rehearsed; list the outbox";
        return refused("dry_run", detail);
    }
    if ask.tenant.is_some() {
        let detail = "the job outbox is for all tenants; leave tenant out";
        return refused("tenant", detail);
    }
    Ok(())
}

fn queue_answer(drained: Drained) -> OutboxRunAnswer {
    OutboxRunAnswer {
        stored: drained.stored,
        duplicates: drained.duplicates,
        dropped: drained.dropped,
        waiting: drained.waiting,
        dead: drained.dead,
        expired: drained.expired,
        away: drained.away,
        unfinished: drained.unfinished,
    }
}

#[cfg(test)]
mod tests {
    use throughline_conversation_memory::Cause;

    use super::*;

    /// Found by killing Postgres under a sweep: it was answered as a mistake of ours (500).
    #[test]
    fn a_job_that_met_a_store_that_is_away_is_no_mistake() {
        let gone = || Cause::new("gone");
        let away_by: [Box<dyn Error + Send + Sync>; 5] = [
            Box::new(MemoryError::Unavailable(gone())),
            Box::new(RetentionError::Memory(MemoryError::Unavailable(gone()))),
            Box::new(IdentityError::Unavailable("gone".into())),
            Box::new(TenancyError::Unavailable("gone".into())),
            Box::new(OutboxError::Unavailable(gone())),
        ];
        assert!(away_by.iter().all(|error| away(&**error)));
        assert!(!away(&RetentionError::Drifted));
        assert!(!away(&std::io::Error::other("gone")));
    }
}
