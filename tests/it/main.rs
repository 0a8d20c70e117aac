//! What needs real processes: the built binary, a real Postgres, signals, several replicas.

mod adapter;
mod bench;
mod client;
mod commute;
mod import;
mod logs;
mod outage;
mod queue;
mod redaction;
mod remembered;
mod replicas;
mod schema;
mod shutdown;
mod sweep;
