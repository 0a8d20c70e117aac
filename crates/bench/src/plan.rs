//! What is to be measured, and for how long.

use std::path::PathBuf;
use std::time::Duration;

/// One of the benchmarks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scenario {
    /// Appends by 1, 64 and 256 callers over 64 tenants.
    Append,
    /// All callers append for one user.
    HotUser,
    /// The latest 20 turns out of many.
    Recent,
    /// Reads and appends together, at their most and at 70 % of it.
    Mixed,
    /// One tenant at its limit beside others.
    NoisyNeighbour,
    /// A user with 10,000 turns beside one with 10.
    Growth,
    /// A sweep over many ended turns, alone and beside appends.
    Gc,
    /// Appends through the library beside puts into LangGraph's store.
    LangGraph,
}

impl Scenario {
    /// Its name on the command line and in the report.
    pub fn name(self) -> &'static str {
        match self {
            Self::Append => "append",
            Self::HotUser => "hot-user",
            Self::Recent => "recent",
            Self::Mixed => "mixed",
            Self::NoisyNeighbour => "noisy-neighbour",
            Self::Growth => "growth",
            Self::Gc => "gc",
            Self::LangGraph => "langgraph",
        }
    }
}

/// Everything a run needs to know.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Which benchmark.
    pub scenario: Scenario,
    /// The documented sizes in place of short ones.
    pub full: bool,
    /// How long each single measurement takes; the plan's own when not set.
    pub each: Option<Duration>,
    /// A database for the benchmark alone; a throwaway server is started when not set.
    pub database_url: Option<String>,
    /// A running service on that database; one is started when not set.
    pub service_url: Option<String>,
    /// The binary that is started with `serve`.
    pub binary: PathBuf,
    /// The Python that LangGraph's store runs in; only [`Scenario::LangGraph`] needs it.
    pub python: PathBuf,
}

impl Plan {
    /// One measurement.
    pub(crate) fn each(&self) -> Duration {
        let usual = if self.full { 8 } else { 3 };
        self.each.unwrap_or(Duration::from_secs(usual))
    }

    /// How often the two sides take turns.
    pub(crate) fn rounds(&self) -> usize {
        match (self.full, self.each) {
            (true, _) => 5,
            (false, None) => 3,
            (false, Some(_)) => 1,
        }
    }

    /// The larger number in a full run.
    pub(crate) fn size(&self, short: usize, full: usize) -> usize {
        if self.full { full } else { short }
    }
}
