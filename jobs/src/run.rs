//! One run of one job: alone, within its time, and never taking the runner down with it.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use throughline_domain::{Clock, Ids};
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::job::{Job, JobContext, Outcome, Report, Request};
use crate::metrics::Metrics;
use crate::runner::Settings;

/// A job with what every run of it needs.
#[derive(Clone)]
pub(crate) struct Entry {
    pub(crate) job: Arc<dyn Job>,
    pub(crate) settings: Settings,
    pub(crate) metrics: Metrics,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn Ids>,
    /// Told to stop at the next whole step.
    pub(crate) stop: CancellationToken,
    /// Dropped where it stands.
    pub(crate) abort: CancellationToken,
    /// Held while the job runs.
    pub(crate) flight: Arc<Mutex<()>>,
}

/// How a run ended.
enum Ended {
    Reported(Report),
    Panicked,
    TimedOut,
    Aborted,
}

impl Entry {
    /// The right to run, unless it runs already.
    pub(crate) fn take_off(&self) -> Option<OwnedMutexGuard<()>> {
        self.flight.clone().try_lock_owned().ok()
    }

    /// A run by the schedule: after a random wait, so that replicas do not all start at once.
    pub(crate) async fn tick(&self, flight: OwnedMutexGuard<()>) {
        let jitter = self.jitter();
        let _ = tokio::time::timeout(jitter, self.stop.cancelled()).await;
        if !self.stop.is_cancelled() {
            self.run(flight, None).await;
        }
    }

    /// A run. `None` when it panicked or was dropped.
    pub(crate) async fn run(
        &self,
        _flight: OwnedMutexGuard<()>,
        request: Option<Request>,
    ) -> Option<Report> {
        let name = self.job.name();
        let begun = Instant::now();
        let context = JobContext {
            request,
            stop: self.stop.clone(),
            spent_at: begun + self.settings.budget,
        };
        self.metrics.started(name);
        let run = AssertUnwindSafe(self.job.run(&context)).catch_unwind();
        let ended = tokio::select! {
            ended = tokio::time::timeout(self.settings.timeout, run) => match ended {
                Ok(Ok(report)) => Ended::Reported(report),
                Ok(Err(_)) => Ended::Panicked,
                Err(_) => Ended::TimedOut,
            },
            () = self.abort.cancelled() => Ended::Aborted,
        };
        self.conclude(name, ended, begun.elapsed())
    }

    fn conclude(&self, job: &'static str, ended: Ended, took: Duration) -> Option<Report> {
        let duration_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        let word = match &ended {
            Ended::Reported(report) => report.outcome.as_str(),
            Ended::Panicked => "panicked",
            Ended::TimedOut | Ended::Aborted => "timed_out",
        };
        self.metrics.ended(job, word, took, self.clock.now());
        match ended {
            Ended::Reported(report) => {
                if let Outcome::Failed(error) = &report.outcome {
                    let error: &(dyn std::error::Error + 'static) = &**error;
                    tracing::error!(job, duration_ms, error, "a job failed");
                } else if report.is_empty() {
                    tracing::debug!(
                        job,
                        duration_ms,
                        outcome = word,
                        "a job found nothing to do"
                    );
                } else {
                    let rows: u64 = report.done.iter().map(|done| done.rows).sum();
                    tracing::info!(job, duration_ms, outcome = word, rows, "a job ended");
                }
                Some(report)
            }
            Ended::Panicked => {
                tracing::error!(
                    job,
                    duration_ms,
                    "a job panicked; it will run again when it is due"
                );
                None
            }
            Ended::TimedOut => {
                tracing::error!(
                    job,
                    duration_ms,
                    "a job did not end within its time and was dropped"
                );
                None
            }
            Ended::Aborted => {
                tracing::warn!(
                    job,
                    duration_ms,
                    "a job was dropped because the service stops"
                );
                None
            }
        }
    }

    fn jitter(&self) -> Duration {
        let most = u64::try_from(self.settings.jitter.as_millis()).unwrap_or(u64::MAX);
        let random = self.ids.secret().into_iter().take(8);
        let random = random.fold(0, |number, byte| number << 8 | u64::from(byte));
        Duration::from_millis(random % most.saturating_add(1).max(1))
    }
}
