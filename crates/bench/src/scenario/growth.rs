//! A user with 10,000 turns beside one with 10: neither appending nor reading may get slower with what
//! is there already.

use std::sync::Arc;

use super::Bench;
use super::callers::HttpRecent;
use super::recent::read;
use crate::fault::BenchError;
use crate::report::{Bound, Series};
use crate::stage::{Person, filled_user};

const MANY: usize = 10_000;
/// The limit of the reads is above neither's turns, so that both answers have the same size.
const FEW: usize = 20;
const CALLERS: usize = 8;

pub(super) async fn run(bench: &mut Bench<'_>) -> Result<(), BenchError> {
    (bench.say)(&format!("writing {MANY} turns for one user"));
    bench.stage.fill(0, 1, FEW).await?;
    bench.stage.fill(64, 1, MANY).await?;
    let person = |number: usize| Person {
        user: filled_user(number),
        ..bench.stage.people[0].clone()
    };
    let (few, many) = ([person(0)], [person(64)]);
    let request = |person: &Person| {
        let request = HttpRecent::request(&person.tenant, person.user, &person.token);
        Arc::new(vec![request])
    };
    let (few_request, many_request) = (request(&few[0]), request(&many[0]));
    let mut reads = [
        Series::new("recent, 20 turns"),
        Series::new("recent, 10,000 turns"),
    ];
    let mut appends = [
        Series::new("append, 20 turns"),
        Series::new("append, 10,000 turns"),
    ];
    // How many turns a page is read from is seen where it is read.
    let forgetful = bench.stage.forgetful(bench.plan).await?;
    let address = &forgetful.address;
    for round in 0..bench.plan.rounds() {
        bench.round(round);
        reads[0].push(read(bench, address, CALLERS, &few_request, false).await?);
        reads[1].push(read(bench, address, CALLERS, &many_request, false).await?);
        appends[0].push(bench.http(1, &few).await?);
        appends[1].push(bench.http(1, &many).await?);
    }
    let report = &mut bench.report;
    report.compare_p50(
        "p50 of recent, 10,000 turns / 20",
        &reads[1],
        &reads[0],
        Bound::AtMost(1.5),
    );
    report.compare_p50(
        "p50 of append, 10,000 turns / 20 and growing",
        &appends[1],
        &appends[0],
        Bound::AtMost(1.5),
    );
    report.series.extend(reads.into_iter().chain(appends));
    Ok(())
}
