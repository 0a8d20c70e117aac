//! The benchmark behind `throughline bench`: what the service does in a second and how long a caller
//! waits, beside what `pgbench` gets out of the same server with the equivalent SQL.
//!
//! Machines differ and a busy one differs from itself, so the figures that count are ratios: the
//! two sides take turns within one run, and medians of the rounds are compared. After each scenario
//! everything that was acknowledged is looked up: stored once, counters exact.
//!
//! Belongs here: load, measuring, the comparison, the report. Does not belong here: command line
//! parsing, and anything the service itself needs.

mod check;
mod fault;
mod http;
mod langgraph;
mod load;
mod pgbench;
mod plan;
mod plot;
mod process;
mod report;
mod samples;
mod scenario;
mod service;
mod stage;
mod sustained;
mod words;

pub use fault::BenchError;
pub use plan::{Plan, Scenario};
pub use report::{Report, Row};
pub use scenario::run;
pub use sustained::{Guests, LoadPlan, LoadReport, sustain};
