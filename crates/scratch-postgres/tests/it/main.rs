//! Real servers, started, shared, crashed and cleaned up.
#![cfg(target_os = "linux")] // looks into /proc to see what is left
#![expect(clippy::unwrap_used, reason = "a helper of a test fails like the test")]

mod holder;
mod pooler;
mod reaper;
mod server;
mod shared;
