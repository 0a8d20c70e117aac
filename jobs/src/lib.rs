//! What the service does by itself, by the clock: the job runner, schedules, and one file for each
//! job.
//!
//! Belongs here: when a job runs, that it runs once at a time, that it stops when told to, and what it
//! does over the capability traits. Does not belong here: a store, HTTP, configuration. A new job is a
//! file with a [`Job`] and a line where the service adds its jobs.

mod gc;
mod gc_lag;
mod job;
mod metrics;
mod outbox;
mod reconcile;
mod redaction;
mod run;
mod runner;
mod schedule;
mod tenants;

pub use gc::{Gc, GcMetrics, GcParts, GcSettings, Visiting};
pub use gc_lag::GcLag;
pub use job::{Done, Job, JobContext, Outcome, Report, Request};
pub use outbox::Outbox;
pub use reconcile::Reconcile;
pub use redaction::Redaction;
pub use runner::{Jobs, Runner, RunnerError, Settings, TriggerError};
pub use schedule::{InvalidSchedule, Schedule};
