//! The benchmarks, one file each.

mod append;
mod callers;
mod gc;
mod growth;
mod hot_user;
mod langgraph;
mod mixed;
mod noisy_neighbour;
mod recent;

use crate::check;
use crate::fault::BenchError;
use crate::load::closed_loop;
use crate::plan::{Plan, Scenario};
use crate::process::load_average;
use crate::report::{Report, Series};
use crate::samples::Samples;
use crate::stage::{Person, Script, Stage};

use self::callers::Appending;

/// Runs the plan. Progress is told through `say`, a line at a time.
pub async fn run(plan: &Plan, say: impl Fn(&str)) -> Result<Report, BenchError> {
    let limited = plan.scenario == Scenario::NoisyNeighbour;
    say("setting the stage: database, service, 64 tenants");
    let mut bench = Bench::new(plan, Stage::set(plan, limited).await?, &say).await?;
    match plan.scenario {
        Scenario::Append => append::run(&mut bench).await?,
        Scenario::HotUser => hot_user::run(&mut bench).await?,
        Scenario::Recent => recent::run(&mut bench).await?,
        Scenario::Mixed => mixed::run(&mut bench).await?,
        Scenario::NoisyNeighbour => noisy_neighbour::run(&mut bench).await?,
        Scenario::Growth => growth::run(&mut bench).await?,
        Scenario::Gc => gc::run(&mut bench).await?,
        Scenario::LangGraph => langgraph::run(&mut bench).await?,
    }
    say("looking up what was acknowledged");
    bench.finish().await
}

/// A run under way.
struct Bench<'a> {
    plan: &'a Plan,
    stage: Stage,
    report: Report,
    acknowledged: Vec<u128>,
    /// Measurements so far: tells the keys of one from those of the others.
    number: usize,
    label: String,
    say: &'a dyn Fn(&str),
}

impl<'a> Bench<'a> {
    async fn new(plan: &'a Plan, stage: Stage, say: &'a dyn Fn(&str)) -> Result<Self, BenchError> {
        let mut report = Report::new(plan.scenario.name(), load_average());
        report.note(stage.described().await?);
        Ok(Self {
            plan,
            stage,
            report,
            acknowledged: Vec::new(),
            number: 0,
            label: format!("bench-{}-", std::process::id()),
            say,
        })
    }

    fn round(&self, round: usize) {
        (self.say)(&format!("round {} of {}", round + 1, self.plan.rounds()));
    }

    /// That many callers append over HTTP, for these people in turn.
    async fn http(&mut self, callers: usize, people: &[Person]) -> Result<Samples, BenchError> {
        let mut all = Vec::with_capacity(callers);
        for caller in 0..callers {
            let person = &people[caller % people.len()];
            let keys = self.keys(caller);
            all.push(callers::HttpAppend::new(&self.stage.service.address, person, keys).await?);
        }
        self.append(all).await
    }

    /// The same without HTTP: straight into the store.
    async fn library(&mut self, callers: usize, people: &[Person]) -> Result<Samples, BenchError> {
        let all = (0..callers)
            .map(|caller| {
                let person = &people[caller % people.len()];
                callers::LibraryAppend::new(self.stage.store.clone(), person, self.keys(caller))
            })
            .collect();
        self.append(all).await
    }

    async fn append<C: Appending>(&mut self, callers: Vec<C>) -> Result<Samples, BenchError> {
        self.number += 1;
        let (samples, callers) = closed_loop(callers, self.plan.each(), None).await?;
        self.acknowledged
            .extend(callers.into_iter().flat_map(Appending::acknowledged));
        Ok(samples)
    }

    async fn pgbench(&mut self, script: &Script, clients: usize) -> Result<Samples, BenchError> {
        self.number += 1;
        let (script, base) = (&script.0, self.number);
        self.stage
            .programs
            .pgbench(script, clients, self.plan.each(), base)
            .await
    }

    fn keys(&self, caller: usize) -> String {
        format!("{}{}-{caller}-", self.label, self.number)
    }

    async fn finish(mut self) -> Result<Report, BenchError> {
        let acknowledged = std::mem::take(&mut self.acknowledged);
        let count = check::stored_once(&self.stage, &self.label, acknowledged, 0).await?;
        self.report.checked = count;
        self.report.load = (self.report.load.0, load_average());
        self.stage.strike().await?;
        Ok(self.report)
    }
}

/// The series of several client counts whose median rate is the best.
fn best<'s>(series: &[&'s Series]) -> &'s Series {
    let mut best = series[0];
    for candidate in series {
        if candidate.rate() > best.rate() {
            best = candidate;
        }
    }
    best
}
