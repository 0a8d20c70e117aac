//! Keeping and draining over the in-memory store, with a store that can be made to fail and a real
//! spool in a directory of its own.

mod away;
mod erased;
mod fixture;
mod persist;
mod poison;
mod spooled;
