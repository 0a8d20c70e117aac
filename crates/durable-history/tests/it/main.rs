//! The history over a memory that fails on demand, with time that is told what it is.

#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod behaviour;
mod clearing;
mod context;
mod erasure;
mod faults;
mod flaky;
mod hydration;
mod killed;
mod latency;
mod line;
mod logs;
mod metrics;
mod outage;
mod presence;
mod recent_context;
mod redelivery;
mod same_as_plain;
mod spooled;
mod taxonomy;
mod world;
