//! Tenancy, platform identity and conversation memory on PostgreSQL.
//!
//! Belongs here: everything that knows a database driver — the pool, the statements, the embedded
//! migrations, what a SQLSTATE means. sqlx migrates and does nothing else; tokio-postgres over
//! deadpool runs every query (`docs/adr/0001`). Does not belong here: rules that another provider
//! must keep as well; those stand in the capability crates and their contract suites.

mod audit;
mod config;
mod erasure;
mod error;
mod identity;
mod memory;
mod metrics;
mod migrate;
mod outbox;
mod redaction_queue;
mod retention;
mod row;
mod schema_status;
mod session;
mod statement;
mod store;
mod tenancy;
mod tls;
mod transaction;
mod writer;

#[cfg(test)]
mod tests;

pub use config::{
    PostgresConfig, StatementMode, TlsOptions, UrlFault, WriteStrategy, WriterOptions,
};
pub use migrate::{MigrateError, MigrationReport, migrate};
pub use schema_status::{SchemaError, SchemaStatus};
pub use store::{ConnectError, PostgresStore, Unavailable};
pub use tls::TlsFault;
