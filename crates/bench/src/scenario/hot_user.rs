//! 64 callers append for one user: the worst case of a lock, the best case of a shared commit.

use super::Bench;
use crate::fault::BenchError;
use crate::report::{Bound, Series};
use crate::stage::Script;

const CALLERS: usize = 64;

pub(super) async fn run(bench: &mut Bench<'_>) -> Result<(), BenchError> {
    let person = bench.stage.people[..1].to_vec();
    let script = Script::append_for_one_user();
    let mut sql = Series::new("pgbench one statement, 64 clients, one user");
    let mut http = Series::new("http, 64 callers, one user");
    let mut library = Series::new("library, 64 callers, one user");
    for round in 0..bench.plan.rounds() {
        bench.round(round);
        sql.push(bench.pgbench(&script, CALLERS).await?);
        http.push(bench.http(CALLERS, &person).await?);
        library.push(bench.library(CALLERS, &person).await?);
    }
    let report = &mut bench.report;
    report.compare("http / pgbench", &http, &sql, Bound::AtLeast(8.0));
    report.compare("library / pgbench", &library, &sql, Bound::AtLeast(12.0));
    report.compare_p99("p99, library / pgbench", &library, &sql, Bound::AtMost(0.1));
    report.series.extend([sql, http, library]);
    Ok(())
}
