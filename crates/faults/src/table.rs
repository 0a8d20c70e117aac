//! What all rounds came to.

use std::fmt;
use std::time::Duration;

use crate::checker::{Broken, Promise};
use crate::fault::Fault;
use crate::round::Round;

/// The rounds of one fault, added up.
#[derive(Debug)]
pub struct Tried {
    fault: Fault,
    rounds: usize,
    calls: usize,
    acknowledged: usize,
    unknown: usize,
    reads: usize,
    recoveries: Vec<Duration>,
    /// Everything that was broken.
    pub broken: Vec<Broken>,
}

impl Tried {
    pub(crate) fn new(fault: Fault) -> Self {
        Self {
            fault,
            rounds: 0,
            calls: 0,
            acknowledged: 0,
            unknown: 0,
            reads: 0,
            recoveries: Vec::new(),
            broken: Vec::new(),
        }
    }

    pub(crate) fn add(&mut self, round: Round) {
        self.rounds += 1;
        self.calls += round.calls;
        self.acknowledged += round.acknowledged;
        self.unknown += round.unknown;
        self.reads += round.reads;
        self.recoveries.push(round.recovery);
        self.broken.extend(round.broken);
    }

    /// The longest recovery.
    pub fn worst(&self) -> Duration {
        self.recoveries.iter().max().copied().unwrap_or_default()
    }

    fn median(&self) -> Duration {
        let mut sorted = self.recoveries.clone();
        sorted.sort_unstable();
        sorted.get(sorted.len() / 2).copied().unwrap_or_default()
    }

    fn count(&self, promises: &[Promise]) -> usize {
        let broken = self.broken.iter();
        broken
            .filter(|broken| promises.contains(&broken.promise))
            .count()
    }

    fn others(&self) -> usize {
        self.broken.len() - self.count(&[Promise::Kept, Promise::Once, Promise::Read])
    }
}

/// One line a fault, as Markdown.
#[derive(Debug, Default)]
pub struct Table(pub Vec<Tried>);

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "| fault | rounds | calls | acknowledged | open | reads | lost | doubled | wrong reads | other | recovery, median | worst |\n\
             |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
        )?;
        for tried in &self.0 {
            writeln!(
                f,
                "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {:.2} s | {:.2} s |",
                tried.fault,
                tried.rounds,
                tried.calls,
                tried.acknowledged,
                tried.unknown,
                tried.reads,
                tried.count(&[Promise::Kept]),
                tried.count(&[Promise::Once]),
                tried.count(&[Promise::Read]),
                tried.others(),
                tried.median().as_secs_f64(),
                tried.worst().as_secs_f64(),
            )?;
        }
        Ok(())
    }
}
