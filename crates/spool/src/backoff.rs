//! How long a failed entry waits (R-147, T-17).

use std::time::Duration;

const BASE: Duration = Duration::from_secs(30);
/// Past this the wait no longer doubles: 30 s × 2^10 is more than eight hours.
const MAX_DOUBLINGS: u32 = 10;

/// The wait after the `attempts`-th failure: 30 s × 2^attempts, ±20 % decided by `random`, so that
/// what failed together does not come back together.
pub(crate) fn wait(attempts: u32, random: u64) -> Duration {
    let plain = BASE * 2_u32.pow(attempts.min(MAX_DOUBLINGS));
    // 8,000 to 12,000 ten-thousandths.
    let share = 8_000 + u32::try_from(random % 4_001).expect("a remainder of 4,001 fits");
    plain * share / 10_000
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn waits_double_from_a_minute() {
        let middle = 2_000;
        let waits: Vec<u64> = (1..=4).map(|n| wait(n, middle).as_secs()).collect();
        assert_eq!(waits, [60, 120, 240, 480]);
    }

    proptest! {
        #[test]
        fn jitter_stays_within_a_fifth(attempts in 0_u32..100, random: u64) {
            let plain = wait(attempts, 2_000).as_secs_f64();
            let share = wait(attempts, random).as_secs_f64() / plain;
            prop_assert!((0.8..=1.2).contains(&share));
        }

        #[test]
        fn both_ends_of_the_jitter_are_reached(attempts in 0_u32..10) {
            let plain = wait(attempts, 2_000);
            prop_assert_eq!(wait(attempts, 0), plain * 8 / 10);
            prop_assert_eq!(wait(attempts, 4_000), plain * 12 / 10);
        }
    }
}
