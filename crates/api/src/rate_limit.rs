//! How many requests one key may send.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use governor::clock::{Clock, DefaultClock};
use governor::middleware::NoOpMiddleware;
use governor::state::keyed::DashMapStateStore;
use governor::{Quota, RateLimiter};
use throughline_domain::KeyId;
use throughline_wire::{Code, Problem};

use crate::RateLimit;
use crate::failure::Failure;

/// After so many requests the keys that fell silent are dropped.
const SWEEP_EVERY: u32 = 4_096;

/// Counts by key id: only keys that were minted take memory, and silent ones give it back.
pub(crate) struct KeyLimiter<C: Clock = DefaultClock> {
    limiter: RateLimiter<KeyId, DashMapStateStore<KeyId>, C, NoOpMiddleware<C::Instant>>,
    clock: C,
    checks: AtomicU32,
}

impl KeyLimiter {
    pub(crate) fn new(limit: RateLimit) -> Self {
        Self::with_clock(limit, DefaultClock::default())
    }
}

impl<C: Clock + Clone> KeyLimiter<C> {
    fn with_clock(limit: RateLimit, clock: C) -> Self {
        let quota = Quota::per_second(limit.per_second).allow_burst(limit.burst);
        Self {
            limiter: RateLimiter::new(quota, DashMapStateStore::default(), clock.clone()),
            clock,
            checks: AtomicU32::new(0),
        }
    }

    /// Counts one request; 429 with the time to wait when it is one too many.
    pub(crate) fn check(&self, key: KeyId) -> Result<(), Failure> {
        if self.checks.fetch_add(1, Ordering::Relaxed) % SWEEP_EVERY == SWEEP_EVERY - 1 {
            self.limiter.retain_recent();
            self.limiter.shrink_to_fit();
        }
        self.limiter.check_key(&key).map_err(|not_until| {
            let wait = not_until.wait_time_from(self.clock.now());
            let detail = "the key sends too many requests; wait before the next one";
            Problem::new(Code::RateLimited, detail)
                .retry_after(whole_seconds(wait))
                .into()
        })
    }
}

/// Rounded up, at least one.
fn whole_seconds(wait: Duration) -> u64 {
    (wait.as_secs() + u64::from(wait.subsec_nanos() > 0)).max(1)
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use governor::clock::FakeRelativeClock;

    use super::*;

    fn limiter(burst: u32) -> KeyLimiter<FakeRelativeClock> {
        let limit = RateLimit {
            per_second: NonZeroU32::MIN,
            burst: NonZeroU32::new(burst).unwrap(),
        };
        KeyLimiter::with_clock(limit, FakeRelativeClock::default())
    }

    #[test]
    fn a_key_that_is_over_its_burst_waits_and_others_do_not() {
        let limiter = limiter(2);
        let (one, other) = (KeyId::from_u128(1), KeyId::from_u128(2));
        assert!(limiter.check(one).is_ok() && limiter.check(one).is_ok());
        let refused = limiter.check(one).unwrap_err().problem;
        assert_eq!(
            (refused.code, refused.retry_after_seconds),
            (Code::RateLimited, Some(1))
        );
        assert!(limiter.check(other).is_ok());
        limiter.clock.advance(Duration::from_secs(1));
        assert!(limiter.check(one).is_ok());
    }

    #[test]
    fn silent_keys_give_their_memory_back() {
        let limiter = limiter(1);
        for key in 0..u128::from(SWEEP_EVERY) * 3 {
            let _ = limiter.check(KeyId::from_u128(key));
            limiter.clock.advance(Duration::from_secs(2));
        }
        assert!(limiter.limiter.len() <= SWEEP_EVERY as usize);
    }
}
