//! Which jobs there are and when they run. A new job is one line here.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use prometheus::Registry;
use throughline_api::{JobAsk, JobControl, JobRefusal};
use throughline_conversation_memory::{Chunk, Leases, RedactionQueue, Retention};
use throughline_domain::{SystemClock, SystemIds};
use throughline_jobs::{
    Gc, GcLag, GcMetrics, GcParts, GcSettings, Job as _, JobContext, Jobs, Outcome, Reconcile,
    Redaction, Report, Request, Runner, Schedule, TriggerError, Visiting,
};
use throughline_redacted_memory::{Scanner, Sweep as RedactionSweep};
use throughline_tenancy::Tenancy;
use throughline_wire::{JobDoneBody, JobRunAnswer, OutboxRunAnswer};
use tokio_util::task::TaskTracker;

use crate::failure::Failure;
use crate::queue::Sweep;
use crate::settings::Settings;

const MINUTE: Duration = Duration::from_mins(1);

/// Starts every job over the store.
pub(crate) async fn start<S>(
    store: &Arc<S>,
    settings: &Settings,
    registry: &Registry,
    scanner: &Scanner,
) -> Result<Arc<Jobs>, Failure>
where
    S: Tenancy + Retention + Leases + RedactionQueue + 'static,
{
    let parts = gc_parts(store, settings, registry).map_err(|error| unusable(&error))?;
    let scan = RedactionSweep::new(store.clone(), scanner.clone(), parts.clock.clone());
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
        .with(Arc::new(Redaction::narrowing(scan)), on(Schedule::Off));
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

/// One sweep in this process, beside whatever service runs.
pub(crate) async fn sweep_once<S>(
    store: &Arc<S>,
    settings: &Settings,
    context: &JobContext,
) -> Result<Report, Failure>
where
    S: Tenancy + Retention + Leases + 'static,
{
    let parts = gc_parts(store, settings, &Registry::new());
    let parts = parts.map_err(|error| unusable(&error))?;
    Ok(Gc::new(parts, Visiting::AtServiceTime).run(context).await)
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
        queue: None,
    }
}

/// The jobs as the HTTP surface asks for them. The sweep of queued appends is one of them to an
/// operator; it has a clock of its own, which `--jobs off` does not stop: a 202 promised it.
pub(crate) struct Asked {
    pub(crate) jobs: Arc<Jobs>,
    pub(crate) sweep: Arc<Sweep>,
}

/// The name by which an operator asks for a sweep of queued appends.
const OUTBOX: &str = "outbox";

#[async_trait]
impl JobControl for Asked {
    async fn run_now(&self, job: &str, ask: JobAsk) -> Result<JobRunAnswer, JobRefusal> {
        if job == OUTBOX {
            return self.sweep_now(ask).await;
        }
        let dry_run = ask.dry_run;
        let request = Request {
            dry_run,
            tenant: ask.tenant,
        };
        match self.jobs.trigger_now(job, request).await {
            Ok(Report {
                outcome: Outcome::Failed(error),
                ..
            }) => Err(JobRefusal::Broken(error)),
            Ok(report) => Ok(answer(job, dry_run, &report)),
            Err(TriggerError::UnknownJob(_)) => Err(JobRefusal::UnknownJob(self.names())),
            Err(TriggerError::Running) => Err(JobRefusal::Running),
            Err(TriggerError::Stopping) => Err(JobRefusal::Stopping),
            Err(error @ TriggerError::Broken) => Err(JobRefusal::Broken(Box::new(error))),
        }
    }
}

impl Asked {
    fn names(&self) -> Vec<&'static str> {
        let mut names = self.jobs.names();
        names.push(OUTBOX);
        names
    }

    /// On a task of its own, so that it goes on if the caller goes away.
    async fn sweep_now(&self, ask: JobAsk) -> Result<JobRunAnswer, JobRefusal> {
        let refused = |parameter, detail| Err(JobRefusal::CannotBeAsked { parameter, detail });
        if ask.dry_run {
            return refused(
                "dry_run",
                "the job outbox cannot be rehearsed; list the outbox",
            );
        }
        if ask.tenant.is_some() {
            return refused(
                "tenant",
                "the job outbox is for all tenants; leave tenant out",
            );
        }
        let sweep = Arc::clone(&self.sweep);
        let swept = TaskTracker::new()
            .spawn(async move { sweep.once().await })
            .await;
        let swept = swept.map_err(|error| JobRefusal::Broken(Box::new(error)))?;
        Ok(swept_answer(swept))
    }
}

fn swept_answer(report: throughline_append_queue::Report) -> JobRunAnswer {
    let whole = !report.away && !report.unfinished;
    JobRunAnswer {
        job: OUTBOX.to_owned(),
        outcome: if whole { "done" } else { "partial" }.to_owned(),
        dry_run: false,
        tenants: 0,
        left_to_others: 0,
        done: Vec::new(),
        queue: Some(OutboxRunAnswer {
            stored: report.stored,
            duplicates: report.duplicates,
            dropped: report.dropped,
            waiting: report.waiting,
            dead: report.dead,
            expired: report.expired,
            away: report.away,
            unfinished: report.unfinished,
        }),
    }
}
