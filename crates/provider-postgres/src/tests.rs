//! Tests that need a database: one of its own for each, on the run's scratch server.

mod catalogue;
mod contract;
mod erasure_catalogue;
mod plans;
mod scratch;
