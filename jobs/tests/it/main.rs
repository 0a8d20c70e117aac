//! The runner over jobs of the tests' own, and the sweep over the in-memory store. What one chunk does is
//! tested beside the stores.

#![expect(
    clippy::unwrap_used,
    clippy::float_cmp,
    reason = "a test fails by panicking; counters are whole"
)]

mod gc;
mod outbox;
mod runner;
