//! What a spool promises, seen from outside.

#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod aside;
mod caps;
mod damage;
mod drain;
mod enqueue;
mod kill;
mod order;
mod support;
