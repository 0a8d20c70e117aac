//! The waits between attempts.

use std::time::Duration;

use throughline_domain::Ids;

use crate::Settings;

/// The wait before the repetition of that number, from 0 on: doubled each time up to the longest, and a
/// random part of up to a half taken off, so that clients that failed together do not come back together.
pub(crate) fn wait(settings: &Settings, repetition: u32, ids: &dyn Ids) -> Duration {
    let doubled = settings
        .first_wait
        .saturating_mul(2_u32.saturating_pow(repetition));
    let half = doubled.min(settings.longest_wait) / 2;
    let [a, b, ..] = ids.secret();
    let part = f64::from(u16::from_be_bytes([a, b])) / f64::from(u16::MAX);
    half + half.mul_f64(part)
}

#[cfg(test)]
mod tests {
    use throughline_domain::SystemIds;

    use super::*;

    #[test]
    fn waits_double_up_to_the_longest_and_lose_up_to_a_half() {
        let settings = Settings {
            first_wait: Duration::from_millis(100),
            longest_wait: Duration::from_millis(350),
            ..Settings::default()
        };
        for (repetition, full) in [(0, 100), (1, 200), (2, 350), (31, 350), (99, 350)] {
            let full = Duration::from_millis(full);
            for _ in 0..100 {
                let wait = wait(&settings, repetition, &SystemIds);
                assert!(full / 2 <= wait && wait <= full, "{repetition}: {wait:?}");
            }
        }
        let waits: std::collections::BTreeSet<Duration> =
            (0..20).map(|_| wait(&settings, 0, &SystemIds)).collect();
        assert!(waits.len() > 1, "{waits:?}");
    }
}
