//! How much is kept, how long, and how patient the adapter is.

use std::time::Duration;

/// How much the hot ring keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HotLimits {
    /// Turns a scope.
    pub turns: usize,
    /// A scope that was not touched for longer than this is dropped by the next `get`.
    pub idle: Duration,
    /// Scopes a tenant; beyond, its least recently accessed one goes (R-004, T-22).
    pub scopes_per_tenant: usize,
    /// Scopes of all tenants; beyond, the tenant with the most gives one up (T-22).
    pub scopes: usize,
    /// Bytes of all texts; beyond, the tenant with the most gives a scope up.
    pub bytes: usize,
}

impl Default for HotLimits {
    fn default() -> Self {
        Self {
            turns: 10,
            idle: Duration::from_hours(2),
            scopes_per_tenant: 500,
            scopes: 5_000,
            bytes: 256 << 20,
        }
    }
}

/// How long a store that is away is left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// After the first failure; it doubles with each further one.
    pub first: Duration,
    /// At most.
    pub most: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self {
            first: Duration::from_millis(250),
            most: Duration::from_secs(10),
        }
    }
}

impl Backoff {
    /// The wait after that many failures in a row, ±20 % by `random`, so that adapters that lost one
    /// store do not come back to it in step.
    pub(crate) fn wait(&self, failures: u32, random: u64) -> Duration {
        let doublings = failures.saturating_sub(1).min(16);
        let plain = self.first.saturating_mul(1 << doublings).min(self.most);
        let percent = 80 + u32::try_from(random % 41).unwrap_or(0);
        plain * percent / 100
    }
}

/// A quarter of what the service takes in one body: JSON needs more than the texts themselves.
pub(crate) const BATCH_BYTES: usize = 1 << 20;

/// Everything that can be set, with the defaults of the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistoryConfig {
    /// The hot ring.
    pub hot: HotLimits,
    /// Turns older than this do not come back into a cold scope (T-24).
    pub hydrate_max_age: Duration,
    /// How long a `get` waits for a cold scope's turns before it answers with what it has.
    pub hydrate_deadline: Duration,
    /// After a failed read no other is tried for this long: a bot must not wait for a store that is away
    /// again and again.
    pub hydrate_pause: Duration,
    /// How long a write may take before it counts as timed out.
    pub call_deadline: Duration,
    /// Turns that may wait in this process; beyond, the oldest go and are counted.
    pub waiting_turns: usize,
    /// Bytes that may wait in this process.
    pub waiting_bytes: usize,
    /// Turns a write carries at most.
    pub batch: usize,
    /// Bytes a write carries at most, one turn always; a service limits the size of what it is sent.
    pub batch_bytes: usize,
    /// How long a store that is away is left alone.
    pub backoff: Backoff,
}

impl Default for HistoryConfig {
    fn default() -> Self {
        Self {
            hot: HotLimits::default(),
            hydrate_max_age: Duration::from_hours(24),
            hydrate_deadline: Duration::from_millis(500),
            hydrate_pause: Duration::from_secs(5),
            call_deadline: Duration::from_secs(10),
            waiting_turns: 1_024,
            waiting_bytes: 64 << 20,
            batch: 100,
            batch_bytes: BATCH_BYTES,
            backoff: Backoff::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_most_with_a_fifth_of_jitter() {
        let backoff = Backoff::default();
        let waits: Vec<u128> = (1..=8).map(|n| backoff.wait(n, 20).as_millis()).collect();
        assert_eq!(
            waits,
            [250, 500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000]
        );
        assert_eq!(backoff.wait(1, 0).as_millis(), 200);
        assert_eq!(backoff.wait(1, 40).as_millis(), 300);
        assert_eq!(backoff.wait(u32::MAX, 40), Duration::from_secs(12));
    }
}
