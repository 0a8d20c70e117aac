//! Appends through the library by 1, 8 and 32 callers, beside puts into LangGraph's store.

use super::Bench;
use crate::fault::BenchError;
use crate::langgraph;
use crate::report::{Bound, Series};

const CALLERS: [usize; 3] = [1, 8, 32];

pub(super) async fn run(bench: &mut Bench<'_>) -> Result<(), BenchError> {
    let people = bench.stage.people.clone();
    let python = bench.plan.python.clone();
    let named =
        |side: &str| CALLERS.map(|callers| Series::new(format!("{side}, {callers} callers")));
    let (mut theirs, mut ours) = (named("langgraph put"), named("library append"));
    for round in 0..bench.plan.rounds() {
        bench.round(round);
        for (place, callers) in CALLERS.into_iter().enumerate() {
            let label = format!("{}{round}-{place}", bench.label);
            let (programs, each) = (&bench.stage.programs, bench.plan.each());
            theirs[place].push(langgraph::puts(programs, &python, callers, each, &label).await?);
            ours[place].push(bench.library(callers, &people).await?);
        }
    }
    let report = &mut bench.report;
    for (place, target) in [1.0, 1.0, 1.2].into_iter().enumerate() {
        let what = format!("library / langgraph, {} callers", CALLERS[place]);
        report.compare(&what, &ours[place], &theirs[place], Bound::AtLeast(target));
    }
    report.note("AsyncPostgresStore.from_conn_string, its defaults: it has one index, and neither keys that may be sent twice nor counters".to_owned());
    report.series.extend(theirs.into_iter().chain(ours));
    Ok(())
}
