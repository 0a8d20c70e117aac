//! Appends by 1, 8, 32, 64 and 256 callers over 64 tenants, beside one statement a turn.

use super::{Bench, best};
use crate::fault::BenchError;
use crate::process;
use crate::report::{Bound, Series};
use crate::stage::{Script, TENANTS};

pub(super) async fn run(bench: &mut Bench<'_>) -> Result<(), BenchError> {
    let people = bench.stage.people.clone();
    let (cte, ceiling) = (Script::append(), Script::ceiling());
    let mut sql: Vec<Series> = [1, 8, 32, 64]
        .map(|clients| Series::new(format!("pgbench one statement, {clients} clients")))
        .into();
    let mut unnest = Series::new("pgbench 128 rows a statement, 2 clients");
    let mut http: Vec<Series> = [1, 64, 256]
        .map(|callers| Series::new(format!("http, {callers} callers")))
        .into();
    let mut library: Vec<Series> = [1, 8, 32, 256]
        .map(|callers| Series::new(format!("library, {callers} callers")))
        .into();
    let idle = bench.stage.service.pid().map(process::memory);
    let mut most = 0.0_f64;
    let mut spent = Spent::default();
    for round in 0..bench.plan.rounds() {
        bench.round(round);
        for (series, clients) in sql.iter_mut().zip([1, 8, 32, 64]) {
            series.push(bench.pgbench(&cte, clients).await?);
        }
        for (series, callers) in http.iter_mut().zip([1, 64, 256]) {
            let before = Spent::so_far(bench);
            series.push(bench.http(callers, &people).await?);
            if callers == 64 {
                spent.add(&before, &Spent::so_far(bench), series.last_count());
            }
            most = most.max(bench.stage.service.pid().map_or(0.0, process::memory));
        }
        for (series, callers) in library.iter_mut().zip([1, 8, 32, 256]) {
            series.push(bench.library(callers, &people).await?);
        }
        let mut samples = bench.pgbench(&ceiling, 2).await?;
        samples.each = 128.0;
        unnest.push(samples);
    }
    let (at_64, most_sql) = (&sql[3], best(&[&sql[1], &sql[2], &sql[3]]));
    let report = &mut bench.report;
    report.compare(
        "http 64 callers / pgbench 64 clients",
        &http[1],
        at_64,
        Bound::AtLeast(2.3),
    );
    report.compare_p99("p99, the same", &http[1], at_64, Bound::AtMost(0.4));
    report.compare(
        "http 64 callers / pgbench at its best",
        &http[1],
        most_sql,
        Bound::AtLeast(1.5),
    );
    report.compare(
        "http 256 callers / pgbench at its best",
        &http[2],
        most_sql,
        Bound::AtLeast(1.9),
    );
    report.compare(
        "library 256 callers / 128 rows a statement",
        &library[3],
        &unnest,
        Bound::AtLeast(0.8),
    );
    report.compare_p50(
        "p50, one caller over http / one client",
        &http[0],
        &sql[0],
        Bound::AtMost(1.5),
    );
    report.compare(
        "library 8 callers / pgbench 8 clients",
        &library[1],
        &sql[1],
        Bound::None,
    );
    if let (Some(idle), true) = (idle, most > 0.0) {
        let grown = (most - idle) / (1_024.0 * 1_024.0);
        report.value(
            "memory of the service above idle, MiB",
            grown,
            Bound::AtMost(64.0),
        );
    }
    spent.tell(report);
    report.note(format!(
        "{TENANTS} tenants, 400 + 1,200 bytes a turn, all indexes"
    ));
    let all = sql.into_iter().chain([unnest]).chain(http).chain(library);
    bench.report.series.extend(all);
    Ok(())
}

/// Processor time of the service and of the database.
#[derive(Default)]
struct Spent {
    service: f64,
    database: f64,
    turns: f64,
}

impl Spent {
    fn so_far(bench: &Bench<'_>) -> Self {
        let of = |pid: Option<u32>| pid.map_or(0.0, process::cpu_seconds);
        Self {
            service: of(bench.stage.service.pid()),
            database: of(bench.stage.database_pid()),
            turns: 0.0,
        }
    }

    fn add(&mut self, before: &Self, after: &Self, turns: usize) {
        self.service += after.service - before.service;
        self.database += after.database - before.database;
        self.turns += f64::from(u32::try_from(turns).unwrap_or(u32::MAX));
    }

    fn tell(&self, report: &mut crate::report::Report) {
        if self.turns > 0.0 && self.service > 0.0 {
            let each = |seconds: f64| seconds * 1e6 / self.turns;
            report.note(format!(
                "processor time a turn, http 64 callers: {:.0} µs in the service, {:.0} µs in Postgres",
                each(self.service),
                each(self.database)
            ));
        }
    }
}
