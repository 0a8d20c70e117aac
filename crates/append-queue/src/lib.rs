//! Appends that their store did not take: where they wait, and how they get there in the end.
//!
//! [`Keeper`] puts an append where it survives: in the outbox while the database answers, else in the
//! spool on this machine's disk. [`drain_outbox`] offers what waits in either to the store, again and
//! again, and [`SpooledErasure`] takes what waits on the disk along when its author is erased. An answer "queued" is a promise that both together keep without an operator.
//!
//! Belongs here: choosing the place, the sweep, what an answer of the store means for an entry, their
//! metrics. Does not belong here: a store, HTTP, when to sweep.

mod drain;
mod erasure;
mod keep;
mod metrics;

pub use drain::{Counts, Deps, Report, drain_outbox};
pub use erasure::SpooledErasure;
pub use keep::Keeper;
pub use metrics::QueueMetrics;
