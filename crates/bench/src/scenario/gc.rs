//! A sweep over many turns of which half have ended: how long it takes alone, and what it costs appends
//! that come meanwhile.

use std::time::Duration;

use throughline_conversation_memory::Chunk;

use super::Bench;
use super::callers::{Appending as _, HttpAppend};
use crate::fault::BenchError;
use crate::load::on_time;
use crate::report::{Bound, Series};
use crate::samples::Samples;
use crate::stage::{Stage, Sweeping, Swept};

/// Seconds for a million turns of which half have ended, on two cores with fsync on.
const TARGET: f64 = 15.0;
const MILLION: f64 = 1_000_000.0;
/// Appends a second beside the sweep, by so many callers.
const RATE: u32 = 1_500;
const CALLERS: u32 = 64;

pub(super) async fn run(bench: &mut Bench<'_>) -> Result<(), BenchError> {
    let turns = bench.plan.size(20_000, 1_000_000);
    let mut sweeping = bench.stage.sweeping().await?;
    (bench.say)(&format!("writing {turns} turns, half of them ended"));
    bench.stage.fill_ended(&mut sweeping, turns, 2).await?;
    (bench.say)("sweeping, alone");
    let alone = sweeping.sweep(&bench.stage.service.address).await?;
    let mut kept = turns - turns / 2;
    exactly(bench, &sweeping, &alone, turns / 2, kept).await?;

    let mut calm = Series::new(format!("append, {RATE} a second, no sweep"));
    let mut beside = Series::new(format!("append, {RATE} a second, beside a sweep"));
    let ended = bench.plan.size(20_000, 300_000);
    let mut busy = 0.0;
    for round in 0..bench.plan.rounds() {
        bench.round(round);
        // Of ten turns nine have ended.
        bench.stage.fill_ended(&mut sweeping, ended, 10).await?;
        calm.push(appends(bench, &sweeping).await?);
        let address = bench.stage.service.address.clone();
        let (swept, samples) =
            tokio::try_join!(sweeping.sweep(&address), appends(bench, &sweeping))?;
        busy += swept.took.min(bench.plan.each()).as_secs_f64();
        beside.push(samples);
        kept += ended / 10;
        exactly(bench, &sweeping, &swept, ended - ended / 10, kept).await?;
    }
    tell(bench, turns, &alone, (calm, beside), busy);
    Ok(())
}

/// Appends that come when they are due, whatever the store does.
async fn appends(bench: &mut Bench<'_>, sweeping: &Sweeping) -> Result<Samples, BenchError> {
    bench.number += 1;
    let callers = usize::try_from(CALLERS).unwrap_or(1);
    let mut all = Vec::with_capacity(callers);
    for (caller, person) in Stage::swept_people(sweeping, callers).iter().enumerate() {
        let keys = bench.keys(caller);
        all.push(HttpAppend::new(&bench.stage.service.address, person, keys).await?);
    }
    let pace = Duration::from_secs(1) * CALLERS / RATE;
    let (samples, all) = on_time(all, bench.plan.each(), pace).await?;
    let acknowledged = all.into_iter().flat_map(HttpAppend::acknowledged);
    bench.acknowledged.extend(acknowledged);
    Ok(samples)
}

/// What had ended is gone, and nothing else.
async fn exactly(
    bench: &Bench<'_>,
    sweeping: &Sweeping,
    swept: &Swept,
    ended: usize,
    kept: usize,
) -> Result<(), BenchError> {
    let (left, late) = bench.stage.turns_of(sweeping).await?;
    if (swept.rows, left, late) == (ended, kept, 0) {
        return Ok(());
    }
    Err(BenchError::Wrong(format!(
        "of {ended} ended turns {} were swept; {left} are left, {kept} should be, {late} of them have ended",
        swept.rows
    )))
}

fn tell(
    bench: &mut Bench<'_>,
    turns: usize,
    alone: &Swept,
    (calm, beside): (Series, Series),
    busy: f64,
) {
    let millions = f64::from(u32::try_from(turns).unwrap_or(u32::MAX)) / MILLION;
    let seconds = alone.took.as_secs_f64();
    let measured = bench.plan.each().as_secs_f64()
        * f64::from(u32::try_from(bench.plan.rounds()).unwrap_or(1));
    let report = &mut bench.report;
    report.note(format!(
        "the sweep alone: {seconds:.2} s for {} of {turns} turns, in transactions of up to {} rows",
        alone.rows,
        Chunk::MAX
    ));
    report.note(format!(
        "a sweep ran during {:.0} % of the time measured beside one",
        100.0 * busy / measured
    ));
    report.value(
        "sweep alone, seconds for a million turns",
        seconds / millions,
        Bound::AtMost(TARGET),
    );
    let at_rate = calm.rate() > 0.95 * f64::from(RATE);
    if !at_rate {
        report.note(format!(
            "{RATE} appends a second are more than this build takes here, so their ratio says nothing of the target"
        ));
    }
    report.compare_p99(
        "p99 of append, beside a sweep / without",
        &beside,
        &calm,
        if at_rate {
            Bound::AtMost(2.0)
        } else {
            Bound::None
        },
    );
    report.series.extend([calm, beside]);
}
