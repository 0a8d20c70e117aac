//! The latest 20 turns, nine reads of ten for a tenth of the users, beside the same select; from what is
//! remembered, and from a service that remembers nothing.

use std::sync::Arc;

use super::callers::HttpRecent;
use super::{Bench, best};
use crate::fault::BenchError;
use crate::load::closed_loop;
use crate::report::{Bound, Series};
use crate::samples::Samples;
use crate::stage::{Script, TENANTS, filled_user};

const CALLERS: usize = 64;
const TURNS: usize = 100;

pub(super) async fn run(bench: &mut Bench<'_>) -> Result<(), BenchError> {
    let users = bench.plan.size(1_000, 10_000);
    (bench.say)(&format!("writing {} turns", users * TURNS));
    bench.stage.fill(0, users, TURNS).await?;
    let requests = requests(bench, users);
    let script = Script::recent(users, &bench.stage.tenant_prefix());
    let mut sql: Vec<Series> = [2, 8, 64]
        .map(|clients| Series::new(format!("pgbench select, {clients} clients")))
        .into();
    let mut http = Series::new("http, 64 callers");
    let mut anew = Series::new("http, 64 callers, each page read");
    let forgetful = bench.stage.forgetful(bench.plan).await?;
    let remembering = bench.stage.service.address.clone();
    for round in 0..bench.plan.rounds() {
        bench.round(round);
        for (series, clients) in sql.iter_mut().zip([2, 8, 64]) {
            series.push(bench.pgbench(&script, clients).await?);
        }
        http.push(read(bench, &remembering, CALLERS, &requests, true).await?);
        anew.push(read(bench, &forgetful.address, CALLERS, &requests, true).await?);
    }
    let report = &mut bench.report;
    let most = best(&[&sql[0], &sql[1], &sql[2]]);
    report.compare(
        "http 64 callers / pgbench at its best",
        &http,
        most,
        Bound::AtLeast(1.0),
    );
    report.compare(
        "http 64 callers / pgbench 64 clients",
        &http,
        &sql[2],
        Bound::None,
    );
    report.compare(
        "remembered pages / each page read",
        &http,
        &anew,
        Bound::AtLeast(1.5),
    );
    report.note(format!("{} turns, {users} users", users * TURNS));
    report.series.extend(sql.into_iter().chain([http, anew]));
    Ok(())
}

/// One request for each filled user.
pub(super) fn requests(bench: &Bench<'_>, users: usize) -> Arc<Vec<String>> {
    let request = |number: usize| {
        let person = &bench.stage.people[number % TENANTS];
        HttpRecent::request(&person.tenant, filled_user(number), &person.token)
    };
    Arc::new((0..users).map(request).collect())
}

pub(super) async fn read(
    bench: &Bench<'_>,
    address: &str,
    callers: usize,
    requests: &Arc<Vec<String>>,
    skewed: bool,
) -> Result<Samples, BenchError> {
    let mut all = Vec::with_capacity(callers);
    for number in 0..callers {
        all.push(HttpRecent::new(address, requests.clone(), skewed, number).await?);
    }
    Ok(closed_loop(all, bench.plan.each(), None).await?.0)
}
