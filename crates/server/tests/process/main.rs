//! The built binary as a process, as far as it needs no database: configuration, demo, serving from
//! memory, importing, stopping.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests: whatever is missing fails the test, with its place"
)]

mod cli;
mod demo;
mod deploy;
mod import;
mod redact;
mod running;
mod serve;
mod shutdown;
