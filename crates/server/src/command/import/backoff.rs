//! How long to wait before the next attempt, and when to give up.

use std::time::Duration;

const FIRST: Duration = Duration::from_millis(200);
const LONGEST: Duration = Duration::from_secs(10);
const LONGEST_ASKED: Duration = Duration::from_mins(1);
/// About a minute and a half in all: a restart or a failover fits in, an outage does not.
pub(super) const ATTEMPTS: u32 = 14;

/// The wait after the attempt of this number (from 1); `None` after the last. What the server asks for
/// is the least, within a minute; without it the wait doubles. `random` in 0..=1 spreads the callers, so
/// that they do not come back at one moment.
pub(super) fn wait(attempt: u32, asked: Option<Duration>, random: f64) -> Option<Duration> {
    if attempt >= ATTEMPTS {
        return None;
    }
    let doubled = FIRST
        .saturating_mul(1 << attempt.saturating_sub(1).min(16))
        .min(LONGEST);
    let spread = doubled.mul_f64(0.5 + random.clamp(0.0, 1.0) / 2.0);
    Some(match asked {
        Some(asked) => asked.min(LONGEST_ASKED) + spread.min(FIRST),
        None => spread,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_within_bounds_and_end() {
        let ms = |attempt, random| wait(attempt, None, random).map(|wait| wait.as_millis());
        assert_eq!(ms(1, 1.0), Some(200));
        assert_eq!(ms(1, 0.0), Some(100));
        assert_eq!(ms(3, 1.0), Some(800));
        assert_eq!(ms(ATTEMPTS - 1, 1.0), Some(10_000));
        assert_eq!(ms(ATTEMPTS, 1.0), None);
    }

    #[test]
    fn what_the_server_asks_for_is_the_least() {
        let asked = |seconds| wait(1, Some(Duration::from_secs(seconds)), 1.0).unwrap();
        assert!(asked(3) >= Duration::from_secs(3));
        assert!(asked(100_000) <= Duration::from_secs(61));
    }
}
