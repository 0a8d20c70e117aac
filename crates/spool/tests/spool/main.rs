//! What a spool promises, seen from outside.

mod aside;
mod caps;
mod damage;
mod drain;
mod enqueue;
mod kill;
mod order;
mod support;
