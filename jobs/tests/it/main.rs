//! The runner over jobs of the tests' own. The sweep over a store is tested beside the stores.

#![expect(
    clippy::unwrap_used,
    clippy::float_cmp,
    reason = "a test fails by panicking; counters are whole"
)]

mod runner;
