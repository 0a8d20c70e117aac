//! A load that is held for a time, beside guests who behave badly: what the others notice of them.

mod caller;
mod guests;
mod report;

use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::check;
use crate::fault::BenchError;
use crate::load::on_time;
use crate::plan::Plan;
use crate::process::memory;
use crate::samples::Samples;
use crate::stage::{Stage, TENANTS};

use self::caller::{Held, What};

pub use self::guests::Guests;
pub use self::report::LoadReport;

/// Connections for each of the two kinds of calls.
const CALLERS: usize = 64;
/// How often memory is looked at.
const LOOK: Duration = Duration::from_millis(200);

/// What is to be held, for how long.
#[derive(Clone, Debug)]
pub struct LoadPlan {
    /// How the stage is set; its scenario is not looked at.
    pub stage: Plan,
    /// Appends a second.
    pub appends: f64,
    /// Reads a second.
    pub reads: f64,
    /// For how long.
    pub time: Duration,
    /// Over so many tenants, up to 64.
    pub tenants: usize,
    /// Who else comes.
    pub guests: Guests,
}

/// Resident memory of the service.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Memory {
    start: f64,
    peak: f64,
    end: f64,
}

/// Holds the load and tells what came of it. What was acknowledged is looked up as in every benchmark.
pub async fn sustain(plan: &LoadPlan, say: impl Fn(&str)) -> Result<LoadReport, BenchError> {
    say("setting the stage: database, service, 64 tenants");
    let stage = Stage::set(&plan.stage, true).await?;
    let pid = stage.service.pid();
    let label = format!("load-{}-", std::process::id());
    let tasks = TaskTracker::new();
    let stop = CancellationToken::new();
    let guests = plan.guests.arrive(&stage, &label, &tasks, &stop).await?;
    let watch = tasks.spawn(watched(pid, stop.clone()));
    say(&format!("holding the load for {:?}", plan.time));
    let (appends, reads) = held(plan, &stage, &label).await?;
    stop.cancel();
    let memory = watch.await.map_err(BenchError::stage)?;
    let guests = guests.leave().await?;
    say("looking up what was acknowledged");
    let ids: Vec<u128> = appends.1.iter().flat_map(Held::acknowledged).collect();
    let open: usize = appends.1.iter().map(|caller| caller.open).sum();
    let checked = check::stored_once(&stage, &format!("{label}held-"), ids, open).await?;
    stage.strike().await?;
    Ok(LoadReport::new(
        plan,
        (appends, reads),
        memory,
        guests,
        checked,
    ))
}

type Kept = (Samples, Vec<Held>);

async fn held(plan: &LoadPlan, stage: &Stage, label: &str) -> Result<(Kept, Kept), BenchError> {
    let tenants = plan.tenants.clamp(1, TENANTS);
    let people = &stage.people;
    let callers = |what: fn(usize) -> What| {
        let callers = (0..CALLERS).map(move |number| {
            let keys = format!("{label}held-{number}-");
            Held::new(
                &stage.service.address,
                &people[number % tenants],
                keys,
                what(number),
            )
        });
        callers.collect::<Vec<_>>()
    };
    // A rate that is not above zero is nobody calling.
    let run = async |callers: Vec<Held>, rate: f64| {
        if rate <= 0.0 {
            return Ok((Samples::default(), Vec::new()));
        }
        let share = u32::try_from(callers.len()).map_or(1.0, f64::from);
        on_time(callers, plan.time, Duration::from_secs_f64(share / rate)).await
    };
    let (appends, reads) = tokio::join!(
        run(callers(|_| What::Append), plan.appends),
        run(callers(|_| What::Read), plan.reads)
    );
    Ok((appends?, reads?))
}

async fn watched(pid: Option<u32>, stop: CancellationToken) -> Memory {
    let look = || pid.map_or(0.0, memory);
    let start = look();
    let mut seen = Memory {
        start,
        peak: start,
        end: start,
    };
    while !stop.is_cancelled() {
        tokio::select! {
            () = tokio::time::sleep(LOOK) => {}
            () = stop.cancelled() => {}
        }
        seen.end = look();
        seen.peak = seen.peak.max(seen.end);
    }
    seen
}
