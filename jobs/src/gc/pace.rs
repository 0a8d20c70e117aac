//! How fast a sweep may go beside appends. Arithmetic only.

use std::time::Duration;

use throughline_conversation_memory::{Chunk, Load};
use tokio::time::Instant;

/// Beside appends a sweep works a quarter of the time: measured, append p99 then about doubles with
/// chunks of a thousand rows and grows fivefold with ten thousand.
const REST: u32 = 3;
/// An append in the last second means that more will come.
const REMEMBERED: Duration = Duration::from_secs(1);
/// A chunk never gets smaller than this: its fixed cost would outweigh it.
const LEAST: u32 = 100;
/// Alone a sweep takes larger chunks, up to a tenth of a second each: fewer commits, and fewer updates of one
/// person's counters. The first append that is seen ends that.
const ALONE: u32 = 10;
/// Appends that take this many times what they take between chunks are hurt by the chunk.
const HURT: f64 = 1.5;

/// Chunk size and rest, from what was seen so far.
#[derive(Debug)]
pub(crate) struct Pace {
    most: u32,
    size: u32,
    /// What an append takes while the sweep rests, in seconds.
    calm: Option<f64>,
    rested_since: Option<Load>,
    busy_until: Option<Instant>,
}

impl Pace {
    pub(crate) fn new(chunk: Chunk) -> Self {
        Self {
            most: chunk.get(),
            size: chunk.get(),
            calm: None,
            rested_since: None,
            busy_until: None,
        }
    }

    /// The next chunk's size.
    pub(crate) fn chunk(&self) -> Chunk {
        Chunk::new(self.size)
    }

    /// A chunk begins: what was seen since the last one was the calm.
    pub(crate) fn begins(&mut self, load: Load, now: Instant) {
        let Some(rested_since) = self.rested_since.take() else {
            return;
        };
        if let Some(latency) = latency(rested_since, load) {
            self.calm = Some(self.calm.map_or(latency, |calm| 0.8 * calm + 0.2 * latency));
            self.busy_until = Some(now + REMEMBERED);
        }
    }

    /// A chunk ended: for how long to rest.
    pub(crate) fn ended(
        &mut self,
        before: Load,
        after: Load,
        took: Duration,
        now: Instant,
    ) -> Duration {
        self.rested_since = Some(after);
        let during = latency(before, after);
        let waited = after.wait_seconds - before.wait_seconds > took.as_secs_f64();
        if during.is_some() || waited {
            self.busy_until = Some(now + REMEMBERED);
        }
        let hurt = waited
            || matches!((during, self.calm), (Some(during), Some(calm)) if during > HURT * calm);
        let busy = self.busy_until.is_some_and(|until| now < until);
        let most = if busy { self.most } else { self.most * ALONE };
        self.size = if hurt {
            (self.size.min(self.most) / 2).max(LEAST.min(self.most))
        } else {
            (self.size + self.size / 8 + 1).min(most)
        };
        if busy { took * REST } else { Duration::ZERO }
    }
}

/// What an append took between two looks, in seconds; `None` when there was none.
fn latency(before: Load, after: Load) -> Option<f64> {
    let appends = u32::try_from(after.appends.saturating_sub(before.appends)).unwrap_or(u32::MAX);
    let seconds = after.append_seconds - before.append_seconds;
    (appends > 0).then(|| seconds / f64::from(appends))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOOK: Duration = Duration::from_millis(10);

    fn load(appends: u64, append_seconds: f64) -> Load {
        Load {
            appends,
            append_seconds,
            wait_seconds: 0.0,
        }
    }

    #[test]
    fn a_sweep_alone_never_rests() {
        let mut pace = Pace::new(Chunk::new(1_000));
        let now = Instant::now();
        for _ in 0..5 {
            pace.begins(load(7, 0.1), now);
            assert_eq!(
                pace.ended(load(7, 0.1), load(7, 0.1), TOOK, now),
                Duration::ZERO
            );
        }
        assert!(pace.chunk().get() > 1_000);
        for _ in 0..50 {
            pace.ended(load(7, 0.1), load(7, 0.1), TOOK, now);
        }
        assert_eq!(pace.chunk(), Chunk::new(10_000));
        // The first append brings the usual chunk back at once.
        pace.ended(load(7, 0.1), load(8, 0.1), TOOK, now);
        assert_eq!(pace.chunk(), Chunk::new(1_000));
    }

    #[test]
    fn beside_appends_it_works_a_quarter_of_the_time_until_they_end() {
        let mut pace = Pace::new(Chunk::new(1_000));
        let now = Instant::now();
        pace.begins(load(0, 0.0), now);
        assert_eq!(
            pace.ended(load(0, 0.0), load(10, 0.01), TOOK, now),
            3 * TOOK
        );
        let soon = now + REMEMBERED / 2;
        assert_eq!(
            pace.ended(load(10, 0.01), load(10, 0.01), TOOK, soon),
            3 * TOOK
        );
        let later = now + 2 * REMEMBERED;
        assert_eq!(
            pace.ended(load(10, 0.01), load(10, 0.01), TOOK, later),
            Duration::ZERO
        );
    }

    // failures.md 16
    #[test]
    fn chunks_shrink_while_they_hurt_appends_and_grow_again() {
        let mut pace = Pace::new(Chunk::new(1_000));
        let now = Instant::now();
        pace.ended(load(0, 0.0), load(0, 0.0), TOOK, now);
        // Ten appends of 1 ms between chunks, ten of 5 ms during one.
        pace.begins(load(10, 0.01), now);
        pace.ended(load(10, 0.01), load(20, 0.06), TOOK, now);
        assert_eq!(
            pace.chunk(),
            Chunk::new(500),
            "half of the usual one, not of a large one"
        );
        for _ in 0..9 {
            pace.ended(load(20, 0.06), load(30, 0.11), TOOK, now);
        }
        assert_eq!(pace.chunk(), Chunk::new(LEAST));
        for _ in 0..30 {
            pace.ended(load(30, 0.11), load(40, 0.12), TOOK, now);
        }
        assert_eq!(pace.chunk(), Chunk::new(1_000));
    }
}
