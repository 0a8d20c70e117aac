//! The process as a server: the accept loop, one connection, the signals that end it.

mod accept;
mod connection;
mod linger;
mod places;
mod signals;
mod stall;

#[cfg(test)]
mod tests;

pub(crate) use accept::{Limits, Stopped, serve};
pub(crate) use signals::{Signals, StopSignals};
