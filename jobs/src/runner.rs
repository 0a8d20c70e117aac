//! Starts jobs when they are due, and stops them when the service does.
//!
//! tokio-cron-scheduler says when a cron text is due; everything else is ours: it starts a job again
//! while it still runs, its `shutdown` neither waits nor prevents one more start, and it reads six
//! fields. Intervals are tokio's own, because the scheduler looks only twice a second.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use prometheus::Registry;
use throughline_domain::{Clock, Ids};
use tokio::sync::Mutex;
use tokio::time::MissedTickBehavior;
use tokio_cron_scheduler::{JobScheduler, JobSchedulerError};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::job::{Job, Report, Request};
use crate::metrics::Metrics;
use crate::run::Entry;
use crate::schedule::Schedule;

/// How a job is run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// When.
    pub schedule: Schedule,
    /// After so long a run is asked to stop; the next one goes on.
    pub budget: Duration,
    /// After so long a run is dropped. Longer than the budget by what one step may take.
    pub timeout: Duration,
    /// A scheduled start is put off by a random time up to this.
    pub jitter: Duration,
}

impl Settings {
    /// On that schedule: ten minutes, half a minute to end, up to five seconds put off.
    pub fn on(schedule: Schedule) -> Self {
        let budget = Duration::from_mins(10);
        Self {
            schedule,
            budget,
            timeout: budget + Duration::from_secs(30),
            jitter: Duration::from_secs(5),
        }
    }
}

/// The jobs of a service that has not started yet.
pub struct Runner {
    entries: BTreeMap<&'static str, Entry>,
    metrics: Metrics,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
    stop: CancellationToken,
    abort: CancellationToken,
}

/// The jobs cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum RunnerError {
    /// The scheduler refused.
    #[error("the jobs cannot be scheduled")]
    Scheduler(#[from] JobSchedulerError),
}

/// Why a job was not run now.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TriggerError {
    /// There is none.
    #[error("there is no job {0}")]
    UnknownJob(String),
    /// One run at a time.
    #[error("the job is running already; wait until it has ended")]
    Running,
    /// No new run.
    #[error("the service is stopping")]
    Stopping,
    /// It panicked or took too long; the log says what happened.
    #[error("the run did not end well; the log says why")]
    Broken,
}

/// The jobs of a running service.
pub struct Jobs {
    entries: BTreeMap<&'static str, Entry>,
    tracker: TaskTracker,
    scheduler: Option<Mutex<JobScheduler>>,
    stop: CancellationToken,
    abort: CancellationToken,
}

impl Runner {
    /// No job yet; the metrics are registered.
    pub fn new(
        clock: Arc<dyn Clock>,
        ids: Arc<dyn Ids>,
        registry: &Registry,
    ) -> Result<Self, prometheus::Error> {
        Ok(Self {
            entries: BTreeMap::new(),
            metrics: Metrics::register(registry)?,
            clock,
            ids,
            stop: CancellationToken::new(),
            abort: CancellationToken::new(),
        })
    }

    /// Adds a job; a second one of that name takes the place of the first.
    #[must_use]
    pub fn with(mut self, job: Arc<dyn Job>, settings: Settings) -> Self {
        let name = job.name();
        self.metrics.know(name);
        let entry = Entry {
            job,
            settings,
            metrics: self.metrics.clone(),
            clock: self.clock.clone(),
            ids: self.ids.clone(),
            stop: self.stop.clone(),
            abort: self.abort.clone(),
            flight: Arc::default(),
        };
        self.entries.insert(name, entry);
        self
    }

    /// Starts. With `scheduled` false nothing runs by itself, and everything can be triggered.
    pub async fn start(self, scheduled: bool) -> Result<Jobs, RunnerError> {
        let tracker = TaskTracker::new();
        let mut cron: Option<JobScheduler> = None;
        for entry in self.entries.values().filter(|_| scheduled) {
            match &entry.settings.schedule {
                Schedule::Off => {}
                Schedule::Every(interval) => {
                    tracker.spawn(every(*interval, entry.clone(), tracker.clone()));
                }
                Schedule::Cron(text) => {
                    let by_cron = match cron.take() {
                        Some(by_cron) => by_cron,
                        None => JobScheduler::new().await?,
                    };
                    // The scheduler reads seconds first.
                    let text = format!("0 {}", text.as_str());
                    by_cron.add(cron_job(&text, entry, &tracker)?).await?;
                    cron = Some(by_cron);
                }
            }
        }
        if let Some(by_cron) = &cron {
            by_cron.start().await?;
        }
        Ok(Jobs {
            entries: self.entries,
            tracker,
            scheduler: cron.map(Mutex::new),
            stop: self.stop,
            abort: self.abort,
        })
    }
}

fn cron_job(
    text: &str,
    entry: &Entry,
    tracker: &TaskTracker,
) -> Result<tokio_cron_scheduler::Job, JobSchedulerError> {
    let (entry, tracker) = (entry.clone(), tracker.clone());
    tokio_cron_scheduler::Job::new_async(text, move |_, _| {
        start_tick(&entry, &tracker);
        Box::pin(std::future::ready(())) as Pin<Box<dyn Future<Output = ()> + Send>>
    })
}

async fn every(interval: Duration, entry: Entry, tracker: TaskTracker) {
    let mut ticks = tokio::time::interval(interval);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    // The first one comes at once; a service that is restarted often would only run jobs.
    ticks.tick().await;
    loop {
        tokio::select! {
            () = entry.stop.cancelled() => return,
            _ = ticks.tick() => start_tick(&entry, &tracker),
        }
    }
}

/// The one place where the schedule starts something. After the stop it starts nothing, whatever the
/// scheduler does.
fn start_tick(entry: &Entry, tracker: &TaskTracker) {
    if entry.stop.is_cancelled() {
        return;
    }
    let Some(flight) = entry.take_off() else {
        entry.metrics.skipped(entry.job.name());
        tracing::info!(
            job = entry.job.name(),
            "a job still runs; this start is dropped"
        );
        return;
    };
    let entry = entry.clone();
    tracker.spawn(async move { entry.tick(flight).await });
}

impl Jobs {
    /// Runs a job now and answers when it has ended. The run goes on if the caller goes away.
    pub async fn trigger_now(&self, job: &str, request: Request) -> Result<Report, TriggerError> {
        let entry = self.entries.get(job);
        let entry = entry.ok_or_else(|| TriggerError::UnknownJob(job.to_owned()))?;
        if self.stop.is_cancelled() {
            return Err(TriggerError::Stopping);
        }
        let flight = entry.take_off().ok_or(TriggerError::Running)?;
        let entry = entry.clone();
        let run = self
            .tracker
            .spawn(async move { entry.run(flight, Some(request)).await });
        run.await.ok().flatten().ok_or(TriggerError::Broken)
    }

    /// The jobs there are, in name order.
    pub fn names(&self) -> Vec<&'static str> {
        self.entries.keys().copied().collect()
    }

    /// Starts nothing any more and tells what runs to stop at its next whole step. Does not wait.
    pub fn begin_stop(&self) {
        self.stop.cancel();
    }

    /// Starts nothing any more, tells what runs to stop at its next whole step and waits for it, at most
    /// so long; what has not ended by then is dropped. Whether everything ended by itself.
    pub async fn stop(&self, within: Duration) -> bool {
        self.begin_stop();
        if let Some(scheduler) = &self.scheduler
            && let Err(error) = scheduler.lock().await.shutdown().await
        {
            tracing::warn!(%error, "the scheduler did not shut down; it starts nothing any more");
        }
        self.tracker.close();
        if tokio::time::timeout(within, self.tracker.wait())
            .await
            .is_ok()
        {
            return true;
        }
        self.abort.cancel();
        self.tracker.wait().await;
        false
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use async_trait::async_trait;
    use throughline_domain::{SeededIds, SystemClock};
    use tokio::sync::Notify;

    use super::*;
    use crate::job::JobContext;

    #[derive(Default)]
    struct Counting {
        runs: AtomicU32,
        ran: Notify,
    }

    #[async_trait]
    impl Job for Counting {
        fn name(&self) -> &'static str {
            "counting"
        }

        async fn run(&self, _: &JobContext) -> Report {
            self.runs.fetch_add(1, Ordering::SeqCst);
            self.ran.notify_one();
            Report::empty()
        }
    }

    // The scheduler looks twice a second, so this waits for up to two.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_cron_text_starts_the_job_and_a_stop_ends_that() {
        let job = Arc::new(Counting::default());
        let ids = Arc::new(SeededIds::from_seed(1));
        let runner = Runner::new(Arc::new(SystemClock), ids, &Registry::new()).unwrap();
        let settings = Settings {
            jitter: Duration::ZERO,
            ..Settings::on(Schedule::Off)
        };
        let runner = runner.with(job.clone(), settings);
        let entry = runner.entries["counting"].clone();
        let mut jobs = runner.start(true).await.unwrap();
        let scheduler = JobScheduler::new().await.unwrap();
        // Every second, which five fields cannot say.
        let every_second = cron_job("* * * * * *", &entry, &jobs.tracker).unwrap();
        scheduler.add(every_second).await.unwrap();
        scheduler.start().await.unwrap();
        jobs.scheduler = Some(Mutex::new(scheduler));
        job.ran.notified().await;
        job.ran.notified().await;
        assert!(jobs.stop(Duration::from_secs(5)).await);
        let runs = job.runs.load(Ordering::SeqCst);
        start_tick(&entry, &jobs.tracker);
        jobs.tracker.wait().await;
        assert_eq!(job.runs.load(Ordering::SeqCst), runs, "a late start");
    }
}
