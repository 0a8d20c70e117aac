//! What one measurement gave: how many, in what time, and how long each took.

use std::time::Duration;

/// One measurement.
#[derive(Clone, Debug, Default)]
pub(crate) struct Samples {
    micros: Vec<u32>,
    seconds: f64,
    /// Things done in one call.
    pub(crate) each: f64,
}

impl Samples {
    pub(crate) fn new(mut micros: Vec<u32>, took: Duration) -> Self {
        micros.sort_unstable();
        Self {
            micros,
            seconds: took.as_secs_f64(),
            each: 1.0,
        }
    }

    /// Calls.
    pub(crate) fn count(&self) -> usize {
        self.micros.len()
    }

    /// Things done a second.
    pub(crate) fn rate(&self) -> f64 {
        let calls = u32::try_from(self.micros.len()).unwrap_or(u32::MAX);
        if self.seconds > 0.0 {
            f64::from(calls) * self.each / self.seconds
        } else {
            0.0
        }
    }

    /// The milliseconds that so many per cent of the calls stayed within.
    pub(crate) fn percentile(&self, percent: usize) -> f64 {
        let place = (self.micros.len() * percent).div_ceil(100).max(1) - 1;
        self.micros
            .get(place)
            .map_or(0.0, |&micros| f64::from(micros) / 1_000.0)
    }
}

/// The middle of the values.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => 0.0,
        odd if odd % 2 == 1 => values[middle],
        _ => f64::midpoint(values[middle - 1], values[middle]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_were_measured() {
        let samples = Samples::new(
            (1..=200).rev().map(|n| n * 1_000).collect(),
            Duration::from_secs(2),
        );
        let found = [50, 99, 100].map(|percent| samples.percentile(percent));
        assert!(
            found
                .iter()
                .zip([100.0, 198.0, 200.0])
                .all(|(a, b)| (a - b).abs() < 1e-9),
            "{found:?}"
        );
        assert!((samples.rate() - 100.0).abs() < 1e-9);
        assert!(Samples::default().percentile(99).abs() < 1e-9);
    }

    #[test]
    fn the_median_is_the_middle() {
        assert!((median([9.0, 1.0, 2.0]) - 2.0).abs() < 1e-9);
        assert!((median([1.0, 4.0, 2.0, 9.0]) - 3.0).abs() < 1e-9);
        assert!(median([]).abs() < 1e-9);
    }
}
