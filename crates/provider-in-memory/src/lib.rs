//! The capabilities in one process's memory, for development, the demo and tests: real semantics,
//! nothing kept when the process ends, one process only.
//!
//! Belongs here: one store behind one lock, and one file an operation on it. Does not belong here: a
//! rule that both providers share (the capability crates have those), another provider, HTTP.

mod identity;
mod memory;
mod outbox;
mod state;
mod store;
mod tenancy;

pub use store::InMemoryStore;
