//! What the runner promises of every job. Time is tokio's paused clock.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use prometheus::{Registry, TextEncoder};
use throughline_domain::{ManualClock, SeededIds, Timestamp};
use throughline_jobs::{
    Done, Job, JobContext, Jobs, Outcome, Report, Request, Runner, Schedule, Settings, TriggerError,
};
use tokio::time::{Instant, sleep};

const MINUTE: Duration = Duration::from_mins(1);

/// What a job does when it is run.
enum Doing {
    Nothing,
    /// Ten steps of so long, then done; stops between two.
    Steps(Duration),
    /// Never looks whether it should stop.
    Deaf,
    /// Panics the first time.
    PanicOnce,
}

struct Probe {
    doing: Doing,
    runs: AtomicU32,
    at_once: AtomicU32,
    overlapped: AtomicBool,
}

#[async_trait]
impl Job for Probe {
    fn name(&self) -> &'static str {
        "probe"
    }

    async fn run(&self, context: &JobContext) -> Report {
        let first = self.runs.fetch_add(1, Ordering::SeqCst) == 0;
        if self.at_once.fetch_add(1, Ordering::SeqCst) > 0 {
            self.overlapped.store(true, Ordering::SeqCst);
        }
        let mut report = Report::empty();
        match self.doing {
            Doing::Nothing => {}
            Doing::Steps(step) => {
                for _ in 0..10 {
                    if context.should_stop() {
                        report.outcome = Outcome::Partial;
                        break;
                    }
                    sleep(step).await;
                }
            }
            Doing::Deaf => std::future::pending().await,
            Doing::PanicOnce => assert!(!first, "the first run breaks"),
        }
        self.at_once.fetch_sub(1, Ordering::SeqCst);
        report
    }
}

struct Running {
    jobs: Arc<Jobs>,
    probe: Arc<Probe>,
    registry: Registry,
}

impl Running {
    async fn start(doing: Doing, change: impl FnOnce(&mut Settings)) -> Self {
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_700_000_000_000)));
        let registry = Registry::new();
        let probe = Arc::new(Probe {
            doing,
            runs: AtomicU32::new(0),
            at_once: AtomicU32::new(0),
            overlapped: AtomicBool::new(false),
        });
        let mut settings = Settings::on(Schedule::Every(MINUTE));
        change(&mut settings);
        let ids = Arc::new(SeededIds::from_seed(7));
        let runner = Runner::new(clock, ids, &registry).unwrap();
        let jobs = runner.with(probe.clone(), settings).start(true).await;
        let jobs = Arc::new(jobs.unwrap());
        Self {
            jobs,
            probe,
            registry,
        }
    }

    fn metric(&self, series: &str) -> f64 {
        let text = TextEncoder::new()
            .encode_to_string(&self.registry.gather())
            .unwrap();
        let line = text.lines().find(|line| line.starts_with(series));
        let value = line.unwrap_or_else(|| panic!("no series {series}"));
        value.rsplit(' ').next().unwrap().parse().unwrap()
    }

    fn ended(&self, outcome: &str) -> f64 {
        let series = format!("ccm_job_runs_total{{job_name=\"probe\",outcome=\"{outcome}\"}}");
        self.metric(&series)
    }
}

#[tokio::test(start_paused = true)]
async fn an_interval_starts_the_job_again_and_again() {
    let running = Running::start(Doing::Nothing, |_| ()).await;
    assert_eq!(
        running.metric("ccm_job_last_success_timestamp_seconds"),
        0.0
    );
    sleep(MINUTE * 5 + MINUTE / 2).await;
    assert_eq!(running.ended("done"), 5.0);
    assert_eq!(
        running.metric("ccm_job_last_success_timestamp_seconds"),
        1_700_000_000.0
    );
    assert_eq!(running.metric("ccm_job_duration_seconds_count"), 5.0);
}

//
#[tokio::test(start_paused = true)]
async fn a_start_while_the_job_runs_is_dropped_and_counted() {
    let running = Running::start(Doing::Steps(MINUTE / 4), |_| ()).await;
    sleep(MINUTE * 6 + MINUTE / 2).await;
    assert!(!running.probe.overlapped.load(Ordering::SeqCst));
    // A run takes two and a half minutes: every third minute starts one.
    assert_eq!(running.probe.runs.load(Ordering::SeqCst), 2);
    assert_eq!(running.metric("ccm_job_skipped_total"), 4.0);
    let now = running.jobs.trigger_now("probe", Request::default()).await;
    assert_eq!(now.err(), Some(TriggerError::Running));
}

#[tokio::test(start_paused = true)]
async fn a_panic_is_counted_and_the_job_runs_again() {
    let running = Running::start(Doing::PanicOnce, |_| ()).await;
    let broken = running.jobs.trigger_now("probe", Request::default()).await;
    assert_eq!(broken.err(), Some(TriggerError::Broken));
    sleep(MINUTE + MINUTE / 2).await;
    assert_eq!(
        (running.ended("panicked"), running.ended("done")),
        (1.0, 1.0)
    );
    assert_eq!(running.metric("ccm_job_running"), 0.0);
}

#[tokio::test(start_paused = true)]
async fn a_run_is_asked_to_stop_when_its_time_is_spent() {
    let budget = |settings: &mut Settings| settings.budget = Duration::from_secs(35);
    let running = Running::start(Doing::Steps(Duration::from_secs(10)), budget).await;
    let report = running
        .jobs
        .trigger_now("probe", Request::default())
        .await
        .unwrap();
    assert!(matches!(report.outcome, Outcome::Partial));
    assert_eq!(
        (running.ended("partial"), running.ended("done")),
        (1.0, 0.0)
    );
}

#[tokio::test(start_paused = true)]
async fn a_run_that_never_ends_is_dropped_and_the_job_runs_again() {
    let timeout = |settings: &mut Settings| settings.timeout = Duration::from_secs(20);
    let running = Running::start(Doing::Deaf, timeout).await;
    sleep(MINUTE * 2 + MINUTE / 2).await;
    assert_eq!(running.ended("timed_out"), 2.0);
}

#[tokio::test(start_paused = true)]
async fn a_stop_waits_for_the_step_that_is_being_done() {
    let running = Running::start(Doing::Steps(Duration::from_secs(4)), |_| ()).await;
    let jobs = running.jobs.clone();
    let run = tokio_util::task::TaskTracker::new();
    let run = run.spawn(async move { jobs.trigger_now("probe", Request::default()).await });
    sleep(Duration::from_secs(1)).await;
    let asked = Instant::now();
    assert!(running.jobs.stop(Duration::from_secs(10)).await);
    assert_eq!(asked.elapsed().as_secs(), 3);
    assert!(matches!(
        run.await.unwrap().unwrap().outcome,
        Outcome::Partial
    ));
    sleep(MINUTE * 3).await;
    assert_eq!(
        running.probe.runs.load(Ordering::SeqCst),
        1,
        "a start after the stop"
    );
    let late = running.jobs.trigger_now("probe", Request::default()).await;
    assert_eq!(late.err(), Some(TriggerError::Stopping));
}

#[tokio::test(start_paused = true)]
async fn a_stop_drops_what_does_not_end_in_time() {
    let running = Running::start(Doing::Deaf, |settings| settings.jitter = Duration::ZERO).await;
    sleep(MINUTE + MINUTE / 2).await;
    let asked = Instant::now();
    assert!(!running.jobs.stop(Duration::from_secs(10)).await);
    assert_eq!(asked.elapsed().as_secs(), 10);
    assert_eq!(running.ended("timed_out"), 1.0);
}

//
#[tokio::test(start_paused = true)]
async fn without_a_schedule_a_job_only_runs_when_asked() {
    let off = |settings: &mut Settings| settings.schedule = Schedule::Off;
    let running = Running::start(Doing::Nothing, off).await;
    sleep(MINUTE * 60).await;
    assert_eq!(running.probe.runs.load(Ordering::SeqCst), 0);
    let report = running
        .jobs
        .trigger_now("probe", Request::default())
        .await
        .unwrap();
    assert_eq!(report.done, [] as [Done; 0]);
    let unknown = running.jobs.trigger_now("prob", Request::default()).await;
    assert_eq!(
        unknown.err(),
        Some(TriggerError::UnknownJob("prob".to_owned()))
    );
}

#[tokio::test(start_paused = true)]
async fn a_run_goes_on_when_whoever_asked_goes_away() {
    let running = Running::start(Doing::Steps(Duration::from_secs(1)), |_| ()).await;
    let asked = running.jobs.trigger_now("probe", Request::default());
    assert!(
        tokio::time::timeout(Duration::from_secs(2), asked)
            .await
            .is_err()
    );
    sleep(Duration::from_secs(20)).await;
    assert_eq!(running.ended("done"), 1.0);
}
