//! One tenant sends as much as it can, up to its rate limit and beyond; the others must not feel it.

use std::time::Duration;

use super::Bench;
use super::callers::{Appending, HttpAppend};
use crate::fault::BenchError;
use crate::load::closed_loop;
use crate::report::{Bound, Series};
use crate::samples::Samples;

const QUIET: usize = 16;
const LOUD: usize = 64;
/// Each quiet caller appends fifty times a second.
const PACE: Duration = Duration::from_millis(20);

pub(super) async fn run(bench: &mut Bench<'_>) -> Result<(), BenchError> {
    let mut alone = Series::new("the others alone");
    let mut beside = Series::new("the others beside the noisy one");
    let mut noise = Series::new("the noisy one, refusals included");
    let mut refused = 0;
    for round in 0..bench.plan.rounds() {
        bench.round(round);
        alone.push(quiet(bench).await?);
        let (quiet, loud) = together(bench, &mut refused).await?;
        beside.push(quiet);
        noise.push(loud);
    }
    let report = &mut bench.report;
    report.compare_p99(
        "p99 of the others, beside the noisy one / alone",
        &beside,
        &alone,
        Bound::AtMost(2.0),
    );
    report.note(format!(
        "the limit is 2,000 requests a second and key; {refused} of the noisy tenant's requests were refused"
    ));
    report.series.extend([alone, beside, noise]);
    Ok(())
}

async fn quiet(bench: &mut Bench<'_>) -> Result<Samples, BenchError> {
    let callers = callers(bench, 1..=QUIET).await?;
    let (samples, callers) = closed_loop(callers, bench.plan.each(), Some(PACE)).await?;
    keep(bench, callers);
    Ok(samples)
}

async fn together(
    bench: &mut Bench<'_>,
    refused: &mut usize,
) -> Result<(Samples, Samples), BenchError> {
    let calm = callers(bench, 1..=QUIET).await?;
    bench.number += 1;
    let mut loud = Vec::with_capacity(LOUD);
    for number in 0..LOUD {
        let person = &bench.stage.people[0];
        let caller = HttpAppend::new(&bench.stage.service.address, person, bench.keys(number));
        loud.push(caller.await?.tolerant());
    }
    // A refused client waits a little, or it would measure the cost of refusals.
    let pace = Some(Duration::from_millis(10));
    let time = bench.plan.each();
    let (calm, loud) = tokio::join!(
        closed_loop(calm, time, Some(PACE)),
        closed_loop(loud, time, pace)
    );
    let ((calm, calm_callers), (loud, loud_callers)) = (calm?, loud?);
    *refused += loud_callers
        .iter()
        .map(|caller| caller.refused)
        .sum::<usize>();
    keep(bench, calm_callers);
    keep(bench, loud_callers);
    Ok((calm, loud))
}

async fn callers(
    bench: &mut Bench<'_>,
    people: std::ops::RangeInclusive<usize>,
) -> Result<Vec<HttpAppend>, BenchError> {
    bench.number += 1;
    let mut callers = Vec::new();
    for number in people {
        let person = &bench.stage.people[number];
        let caller = HttpAppend::new(&bench.stage.service.address, person, bench.keys(number));
        callers.push(caller.await?);
    }
    Ok(callers)
}

fn keep(bench: &mut Bench<'_>, callers: Vec<HttpAppend>) {
    let ids = callers.into_iter().flat_map(Appending::acknowledged);
    bench.acknowledged.extend(ids);
}
