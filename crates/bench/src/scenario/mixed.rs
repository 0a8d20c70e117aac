//! Reads and appends together: at their most, and at 70 % of it, where the absolute promises hold.

use std::time::Duration;

use super::callers::{Appending, HttpAppend, HttpRecent};
use super::{Bench, recent};
use crate::fault::BenchError;
use crate::load::closed_loop;
use crate::report::{Bound, Series};
use crate::samples::Samples;

const USERS: usize = 1_000;
const TURNS: usize = 50;
const READERS: usize = 32;
const WRITERS: usize = 32;

pub(super) async fn run(bench: &mut Bench<'_>) -> Result<(), BenchError> {
    (bench.say)(&format!("writing {} turns", USERS * TURNS));
    bench.stage.fill(0, USERS, TURNS).await?;
    let mut most = [
        Series::new("reads at the most"),
        Series::new("appends at the most"),
    ];
    let mut paced = [Series::new("reads at 70 %"), Series::new("appends at 70 %")];
    for round in 0..bench.plan.rounds() {
        bench.round(round);
        let (reads, appends) = both(bench, None, None).await?;
        let pace = |samples: &Samples, callers: f64| {
            (samples.count() > 0).then(|| Duration::from_secs_f64(callers / (samples.rate() * 0.7)))
        };
        let (reading, writing) = (pace(&reads, 32.0), pace(&appends, 32.0));
        most[0].push(reads);
        most[1].push(appends);
        let (reads, appends) = both(bench, reading, writing).await?;
        paced[0].push(reads);
        paced[1].push(appends);
    }
    let report = &mut bench.report;
    report.value(
        "p99 of appends at 70 % of the most, ms",
        paced[1].percentile(99),
        Bound::AtMost(100.0),
    );
    report.value(
        "p99 of reads at 70 % of the most, ms",
        paced[0].percentile(99),
        Bound::AtMost(50.0),
    );
    report.series.extend(most.into_iter().chain(paced));
    Ok(())
}

async fn both(
    bench: &mut Bench<'_>,
    reading: Option<Duration>,
    writing: Option<Duration>,
) -> Result<(Samples, Samples), BenchError> {
    bench.number += 1;
    let requests = recent::requests(bench, USERS);
    let address = bench.stage.service.address.clone();
    let (mut readers, mut writers) = (Vec::new(), Vec::new());
    for number in 0..READERS {
        readers.push(HttpRecent::new(&address, requests.clone(), true, number).await?);
    }
    for number in 0..WRITERS {
        let person = &bench.stage.people[number];
        writers.push(HttpAppend::new(&address, person, bench.keys(number)).await?);
    }
    let time = bench.plan.each();
    let (reads, appends) = tokio::join!(
        closed_loop(readers, time, reading),
        closed_loop(writers, time, writing)
    );
    let (appends, writers) = appends?;
    let ids = writers.into_iter().flat_map(Appending::acknowledged);
    bench.acknowledged.extend(ids);
    Ok((reads?.0, appends))
}
