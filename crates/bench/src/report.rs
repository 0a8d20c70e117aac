//! What a run found: series of measurements, ratios between them, and whether each target is met.

use std::fmt::{self, Write as _};

use serde_json::{Value, json};

use crate::plot;
use crate::samples::{Samples, median};

/// One contender's measurements, a round each.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    pub(crate) name: String,
    rounds: Vec<Samples>,
}

/// What a ratio has to be.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Bound {
    /// Not below.
    AtLeast(f64),
    /// Not above.
    AtMost(f64),
    /// It is only shown.
    None,
}

/// One comparison.
#[derive(Clone, Debug)]
pub struct Row {
    what: String,
    found: f64,
    bound: Bound,
}

/// A run's result. [`Report::fmt`](fmt::Display) is the table.
#[derive(Clone, Debug)]
pub struct Report {
    scenario: &'static str,
    rows: Vec<Row>,
    notes: Vec<String>,
    pub(crate) series: Vec<Series>,
    /// Acknowledged turns that were looked up.
    pub(crate) checked: usize,
    /// The machine's load before and after.
    pub(crate) load: (f64, f64),
}

impl Series {
    pub(crate) fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            rounds: Vec::new(),
        }
    }

    pub(crate) fn push(&mut self, samples: Samples) {
        self.rounds.push(samples);
    }

    /// Calls in the last round.
    pub(crate) fn last_count(&self) -> usize {
        self.rounds.last().map_or(0, Samples::count)
    }

    /// The median of the rounds' rates.
    pub(crate) fn rate(&self) -> f64 {
        median(self.rounds.iter().map(Samples::rate))
    }

    /// The median of the rounds' percentiles, in milliseconds.
    pub(crate) fn percentile(&self, percent: usize) -> f64 {
        median(self.rounds.iter().map(|round| round.percentile(percent)))
    }

    /// The median of the rounds' ratios: what happened in one round happened to both.
    fn ratio(&self, other: &Self, figure: impl Fn(&Samples) -> f64) -> f64 {
        let ratios = self.rounds.iter().zip(&other.rounds).map(|(ours, theirs)| {
            let theirs = figure(theirs);
            if theirs > 0.0 {
                figure(ours) / theirs
            } else {
                0.0
            }
        });
        median(ratios)
    }
}

impl Row {
    /// Whether the target is met; `None` where there is none.
    pub fn met(&self) -> Option<bool> {
        match self.bound {
            Bound::AtLeast(least) => Some(self.found >= least),
            Bound::AtMost(most) => Some(self.found <= most),
            Bound::None => None,
        }
    }
}

impl Report {
    pub(crate) fn new(scenario: &'static str, load: f64) -> Self {
        Self {
            scenario,
            rows: Vec::new(),
            notes: Vec::new(),
            series: Vec::new(),
            checked: 0,
            load: (load, load),
        }
    }

    pub(crate) fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    pub(crate) fn value(&mut self, what: &str, found: f64, bound: Bound) {
        self.rows.push(Row {
            what: what.to_owned(),
            found,
            bound,
        });
    }

    /// By rate.
    pub(crate) fn compare(&mut self, what: &str, ours: &Series, theirs: &Series, bound: Bound) {
        self.value(what, ours.ratio(theirs, Samples::rate), bound);
    }

    /// By the time half of the calls take.
    pub(crate) fn compare_p50(&mut self, what: &str, ours: &Series, theirs: &Series, bound: Bound) {
        self.value(
            what,
            ours.ratio(theirs, |round| round.percentile(50)),
            bound,
        );
    }

    /// By the time all but one in a hundred calls take.
    pub(crate) fn compare_p99(&mut self, what: &str, ours: &Series, theirs: &Series, bound: Bound) {
        self.value(
            what,
            ours.ratio(theirs, |round| round.percentile(99)),
            bound,
        );
    }

    /// The comparisons.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Everything, for programs.
    pub fn json(&self) -> Value {
        let series: Vec<Value> = self.series.iter().map(|series| {
            json!({
                "name": series.name,
                "per_second": series.rate(),
                "p50_ms": series.percentile(50),
                "p95_ms": series.percentile(95),
                "p99_ms": series.percentile(99),
                "rounds_per_second": series.rounds.iter().map(Samples::rate).collect::<Vec<_>>(),
            })
        }).collect();
        let rows: Vec<Value> = self.rows.iter().map(|row| {
            json!({"what": row.what, "found": row.found, "target": row.bound.to_string(), "met": row.met()})
        }).collect();
        json!({
            "scenario": self.scenario,
            "series": series,
            "targets": rows,
            "notes": self.notes,
            "checked": self.checked,
            "load_average": [self.load.0, self.load.1],
        })
    }

    /// A bar for each series.
    pub fn svg(&self) -> String {
        let bars: Vec<(String, f64, String)> = self
            .series
            .iter()
            .map(|series| {
                let (rate, p99) = (series.rate(), series.percentile(99));
                (
                    series.name.clone(),
                    rate,
                    format!("{rate:.0}/s, p99 {p99:.1} ms"),
                )
            })
            .collect();
        plot::bars(&format!("throughline bench {}", self.scenario), &bars)
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtLeast(least) => write!(f, ">= {least}"),
            Self::AtMost(most) => write!(f, "<= {most}"),
            Self::None => f.write_char('-'),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{}, load of the machine {:.1} to {:.1}",
            self.scenario, self.load.0, self.load.1
        )?;
        for note in &self.notes {
            writeln!(f, "  {note}")?;
        }
        writeln!(
            f,
            "\n{:<44} {:>10} {:>9} {:>9} {:>9}",
            "medians of the rounds", "per s", "p50 ms", "p95 ms", "p99 ms"
        )?;
        for series in &self.series {
            let [p50, p95, p99] = [50, 95, 99].map(|percent| series.percentile(percent));
            writeln!(
                f,
                "{:<44} {:>10.0} {p50:>9.2} {p95:>9.2} {p99:>9.2}",
                series.name,
                series.rate()
            )?;
        }
        writeln!(
            f,
            "\n{:<52} {:>9} {:>9}",
            "against the targets", "found", "target"
        )?;
        for row in &self.rows {
            let verdict = match row.met() {
                Some(true) => "ok",
                Some(false) => "MISS",
                None => "",
            };
            let line = format!(
                "{:<52} {:>9.2} {:>9} {verdict}",
                row.what,
                row.found,
                row.bound.to_string()
            );
            writeln!(f, "{}", line.trim_end())?;
        }
        write!(
            f,
            "\n{} acknowledged turns looked up: each stored once, counters exact",
            self.checked
        )
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn series(rates: &[u32]) -> Series {
        let mut series = Series::new("s");
        for &rate in rates {
            let micros = vec![1_000; usize::try_from(rate).unwrap()];
            series.push(Samples::new(micros, Duration::from_secs(1)));
        }
        series
    }

    #[test]
    fn ratios_are_taken_round_by_round() {
        let mut report = Report::new("append", 0.0);
        // The machine was slow in the second round, for both.
        let (ours, theirs) = (series(&[300, 30, 200]), series(&[100, 10, 100]));
        report.compare("ours / theirs", &ours, &theirs, Bound::AtLeast(2.9));
        report.compare("too much", &ours, &theirs, Bound::AtMost(2.9));
        report.compare("shown", &ours, &theirs, Bound::None);
        let met: Vec<_> = report.rows().iter().map(Row::met).collect();
        assert_eq!(met, [Some(true), Some(false), None]);
        let table = report.to_string();
        assert!(
            table.contains("3.00    >= 2.9 ok") && table.contains("MISS"),
            "{table}"
        );
        assert_eq!(report.json()["targets"][1]["met"], false);
    }
}
