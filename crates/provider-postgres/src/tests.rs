//! Tests that need a database: one of its own for each, on the run's scratch server.

mod contract;
mod scratch;
