//! What a load that was held came to.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Value, json};

use super::caller::Held;
use super::guests::Noticed;
use super::{Kept, LoadPlan, Memory};
use crate::samples::Samples;

/// Latencies, errors by code, memory, and what was noticed of guests.
#[derive(Debug)]
pub struct LoadReport {
    asked: (f64, f64),
    appends: Samples,
    reads: Samples,
    errors: BTreeMap<String, usize>,
    memory: Memory,
    noticed: Noticed,
    checked: usize,
}

impl LoadReport {
    pub(super) fn new(
        plan: &LoadPlan,
        (appends, reads): (Kept, Kept),
        memory: Memory,
        noticed: Noticed,
        checked: usize,
    ) -> Self {
        let mut errors = BTreeMap::new();
        let callers = appends.1.iter().chain(&reads.1);
        for (code, count) in callers.flat_map(|caller: &Held| &caller.errors) {
            *errors.entry(code.clone()).or_default() += count;
        }
        Self {
            asked: (plan.appends, plan.reads),
            appends: appends.0,
            reads: reads.0,
            errors,
            memory,
            noticed,
            checked,
        }
    }

    /// The same as JSON.
    pub fn json(&self) -> Value {
        let times = |samples: &Samples| {
            json!({
                "calls": samples.count(),
                "per_second": samples.rate(),
                "p50_ms": samples.percentile(50),
                "p95_ms": samples.percentile(95),
                "p99_ms": samples.percentile(99),
                "worst_ms": samples.percentile(100),
            })
        };
        json!({
            "appends": times(&self.appends),
            "reads": times(&self.reads),
            "newcomers": times(&self.noticed.newcomers),
            "errors": self.errors,
            "memory_bytes": {
                "start": self.memory.start, "peak": self.memory.peak, "end": self.memory.end
            },
            "more_series": self.noticed.more_series,
            "large_bodies": self.noticed.bodies,
            "checked": self.checked,
        })
    }
}

impl fmt::Display for LoadReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (appends, reads) = self.asked;
        writeln!(
            f,
            "asked for: {appends:.0} appends and {reads:.0} reads a second"
        )?;
        writeln!(
            f,
            "{:<12} {:>8} {:>8} {:>9} {:>9} {:>9} {:>9}",
            "", "calls", "per s", "p50 ms", "p95 ms", "p99 ms", "worst ms"
        )?;
        let all = [
            ("appends", &self.appends),
            ("reads", &self.reads),
            ("newcomers", &self.noticed.newcomers),
        ];
        for (name, samples) in all {
            writeln!(
                f,
                "{name:<12} {:>8} {:>8.0} {:>9.2} {:>9.2} {:>9.2} {:>9.2}",
                samples.count(),
                samples.rate(),
                samples.percentile(50),
                samples.percentile(95),
                samples.percentile(99),
                samples.percentile(100)
            )?;
        }
        let megabytes = |bytes: f64| bytes / 1_048_576.0;
        writeln!(
            f,
            "memory of the service: {:.0} MiB at the start, {:.0} at its peak, {:.0} at the end",
            megabytes(self.memory.start),
            megabytes(self.memory.peak),
            megabytes(self.memory.end)
        )?;
        let errors: Vec<String> = self
            .errors
            .iter()
            .map(|(code, n)| format!("{n} × {code}"))
            .collect();
        let errors = if errors.is_empty() {
            "none".to_owned()
        } else {
            errors.join(", ")
        };
        writeln!(f, "errors: {errors}")?;
        if !self.noticed.bodies.is_empty() {
            writeln!(f, "large bodies: {} sent", self.noticed.bodies.len())?;
        }
        writeln!(
            f,
            "further series for invented channel kinds: {}",
            self.noticed.more_series
        )?;
        write!(
            f,
            "{} acknowledged turns were looked up: each is stored once",
            self.checked
        )
    }
}
