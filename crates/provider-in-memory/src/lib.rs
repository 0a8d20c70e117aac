//! The capabilities in one process's memory, for development, the demo and tests: real semantics,
//! nothing kept when the process ends, one process only.
//!
//! Belongs here: one store behind one lock, and one file an operation on it. Does not belong here: a
//! rule that both providers share (the capability crates have those), another provider, HTTP.

mod audit;
mod erasure;
mod identity;
mod leases;
mod log;
mod memory;
mod people;
mod raw_reads;
mod redaction_queue;
mod retention;
mod state;
mod store;
mod tenancy;

pub use store::InMemoryStore;
