//! The Postgres provider as this process uses it: opened from the settings, migrated, watched.

mod health;
mod schema;

use std::sync::Arc;
use std::time::Duration;

use prometheus::Registry;
use throughline_domain::{SystemClock, SystemIds};
use throughline_provider_postgres::{
    PostgresConfig, PostgresStore, StatementMode, TlsOptions, WriteStrategy, WriterOptions,
};

pub(crate) use health::DatabaseHealth;
pub(crate) use schema::{Trouble, check, migrate};

use crate::failure::{Failure, chain};
use crate::settings::{Settings, Statements, Writing};

/// The database as the settings describe it; refused when there is no address.
pub(crate) fn config(settings: &Settings) -> Result<PostgresConfig, Failure> {
    let Some(url) = settings.database_url.clone() else {
        return Err(Failure::usage(
            "no_database",
            "there is no database address; set CCM_DATABASE_URL, or use serve --dev to try it in memory",
        ));
    };
    Ok(PostgresConfig {
        url,
        pool_size: settings.pool_size.as_usize(),
        statement_mode: match settings.statement_mode {
            Statements::Prepared => StatementMode::Prepared,
            Statements::Unnamed => StatementMode::Unnamed,
        },
        statement_timeout: at_least_a_moment(settings.statement_timeout.0),
        pool_wait: settings.pool_wait.0,
        connect_timeout: at_least_a_moment(settings.connect_timeout.0),
        write_strategy: write_strategy(settings),
        tls: TlsOptions {
            root_certificates: settings.database_root_certificate.clone(),
        },
    })
}

fn write_strategy(settings: &Settings) -> WriteStrategy {
    let together = WriterOptions {
        writers: settings.writers.as_usize(),
        queue_turns: settings.write_queue.as_usize(),
        queue_bytes: u64::try_from(settings.write_queue_bytes.0).unwrap_or(u64::MAX),
        one_tenant_each: false,
    };
    match settings.write_strategy {
        Writing::Group => WriteStrategy::Group(together),
        Writing::Tenant => WriteStrategy::Group(WriterOptions {
            one_tenant_each: true,
            ..together
        }),
        Writing::Direct => WriteStrategy::Direct,
    }
}

/// Postgres takes a timeout of zero for none at all.
fn at_least_a_moment(time: Duration) -> Duration {
    time.max(Duration::from_millis(1))
}

/// Opens the pool; nothing is asked of the database yet.
pub(crate) fn connect(
    config: PostgresConfig,
    registry: &Registry,
) -> Result<Arc<PostgresStore>, Failure> {
    PostgresStore::connect(config, Arc::new(SystemClock), Arc::new(SystemIds), registry)
        .map_err(|error| Failure::usage("invalid_database", chain(&error)))
}
