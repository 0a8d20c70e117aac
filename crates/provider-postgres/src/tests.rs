//! Tests that need a database: one of its own for each, on the run's scratch server.

mod append;
mod catalogue;
mod contract;
mod fault_proxy;
mod fence;
mod measured;
mod migrating;
mod odd_settings;
mod outage;
mod plans;
mod rates;
mod scratch;
mod tls;
mod writer;
