//! What becomes of an entry after an attempt: the arithmetic of attempts and waits (R-147, T-16, T-17).

use std::time::Duration;

use throughline_domain::{OutboxId, Timestamp};

/// The failed attempt that makes a dead letter.
pub const MAX_ATTEMPTS: u32 = 5;

const BASE: Duration = Duration::from_secs(30);

/// What an attempt came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The turn is in the log, or must not come back: the entry is deleted.
    Done,
    /// The store answered and did not take it this time. Counts as an attempt.
    Failed {
        /// A code for operators.
        code: String,
        /// Any number: decides the jitter.
        random: u64,
    },
    /// The store will never take it: a dead letter at first sight (T-38).
    Refused {
        /// A code for operators.
        reason: String,
    },
    /// It was not its fault: it is due again at that moment, and no attempt is counted.
    Postponed(Timestamp),
}

/// What became of one leased entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboxSettlement {
    /// Which.
    pub id: OutboxId,
    /// Its failed attempts when it was leased.
    pub attempts: u32,
    /// What the attempt came to.
    pub fate: Fate,
}

/// What a store writes down for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// Nothing: the entry goes.
    Delete,
    /// In line again.
    Wait {
        /// Failed attempts.
        attempts: u32,
        /// Due then.
        at: Timestamp,
        /// The code of this failure, if it was one.
        error: Option<String>,
    },
    /// A dead letter.
    Die {
        /// Failed attempts.
        attempts: u32,
        /// Why.
        error: String,
    },
}

/// How many entries went which way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settled {
    /// Deleted.
    pub done: u64,
    /// In line again.
    pub waiting: u64,
    /// Became dead letters.
    pub died: u64,
}

impl OutboxSettlement {
    /// The next state, the same on every store.
    pub fn next(&self, now: Timestamp) -> Next {
        let attempts = self.attempts + 1;
        match &self.fate {
            Fate::Done => Next::Delete,
            Fate::Postponed(at) => Next::Wait {
                attempts: self.attempts,
                at: *at,
                error: None,
            },
            Fate::Failed { code, random } if attempts < MAX_ATTEMPTS => Next::Wait {
                attempts,
                at: now.plus(retry_wait(attempts, *random)),
                error: Some(code.clone()),
            },
            Fate::Failed { code: error, .. } | Fate::Refused { reason: error } => Next::Die {
                attempts,
                error: error.clone(),
            },
        }
    }
}

/// The wait after the `attempts`-th failure: 30 s × 2^attempts, ±20 % decided by `random`, so that what
/// failed together does not come back together.
pub fn retry_wait(attempts: u32, random: u64) -> Duration {
    let plain = BASE * 2_u32.pow(attempts.min(MAX_ATTEMPTS));
    // 8,000 to 12,000 ten-thousandths.
    let share = 8_000 + u32::try_from(random % 4_001).expect("a remainder of 4,001 fits");
    plain * share / 10_000
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MIDDLE: u64 = 2_000;

    fn after(attempts: u32, fate: Fate) -> Next {
        let id = OutboxId::from_u128(1);
        OutboxSettlement { id, attempts, fate }.next(Timestamp::from_millis(0))
    }

    // T-16, T-17: the fifth failure is the last.
    #[test]
    fn waits_double_from_a_minute_and_the_fifth_failure_is_the_last() {
        let fail = |attempts| {
            let code = "timeout".to_owned();
            after(
                attempts,
                Fate::Failed {
                    code,
                    random: MIDDLE,
                },
            )
        };
        for (attempts, seconds) in [(0, 60), (1, 120), (2, 240), (3, 480)] {
            let expected = Next::Wait {
                attempts: attempts + 1,
                at: Timestamp::from_millis(seconds * 1_000),
                error: Some("timeout".to_owned()),
            };
            assert_eq!(fail(attempts), expected);
        }
        let error = "timeout".to_owned();
        assert_eq!(fail(4), Next::Die { attempts: 5, error });
    }

    // T-38
    #[test]
    fn a_refusal_is_final_at_first_sight() {
        let reason = "unknown_user".to_owned();
        let expected = Next::Die {
            attempts: 1,
            error: reason.clone(),
        };
        assert_eq!(after(0, Fate::Refused { reason }), expected);
    }

    #[test]
    fn who_only_waited_loses_no_attempt() {
        let at = Timestamp::from_millis(10_000);
        let expected = Next::Wait {
            attempts: 4,
            at,
            error: None,
        };
        assert_eq!(after(4, Fate::Postponed(at)), expected);
    }

    proptest! {
        #[test]
        fn jitter_is_a_fifth_at_most_and_both_ends_are_reached(attempts in 0_u32..9, random: u64) {
            let plain = retry_wait(attempts, MIDDLE);
            let wait = retry_wait(attempts, random);
            prop_assert!(plain * 8 / 10 <= wait && wait <= plain * 12 / 10);
            prop_assert_eq!(retry_wait(attempts, 0), plain * 8 / 10);
            prop_assert_eq!(retry_wait(attempts, 4_000), plain * 12 / 10);
        }
    }
}
