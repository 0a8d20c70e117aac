//! Tests that need a database: one of its own for each, on the run's scratch server.

mod append;
mod catalogue;
mod contract;
mod erasure_catalogue;
mod fault_proxy;
mod fence;
mod index_cost;
mod measured;
mod merging;
mod migrating;
mod odd_settings;
mod outage;
mod plans;
mod rates;
mod raw_reads;
mod retention;
mod scratch;
mod tls;
mod version;
mod versions;
mod writer;
mod writer_load;
