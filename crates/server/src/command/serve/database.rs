//! Serving from Postgres. The database may be away when the process starts, and come later.

use std::sync::Arc;
use std::time::Duration;

use throughline_provider_postgres::{PostgresConfig, PostgresStore};

use super::{bind, until_stopped};
use crate::failure::Failure;
use crate::server::Signals;
use crate::service::assemble;
use crate::settings::Settings;
use crate::store::{self, DatabaseHealth, Trouble};

const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Answers at once, /readyz with 503 until the schema was seen to fit. A schema that does not fit ends
/// the process.
pub(super) async fn serve(settings: &Settings, signals: Signals) -> Result<(), Failure> {
    let config = store::config(settings)?;
    let registry = prometheus::Registry::new();
    let store = store::connect(config.clone(), &registry)?;
    let health = Arc::new(DatabaseHealth::new(Arc::clone(&store)));
    let service = assemble(&store, Arc::clone(&health) as _, settings, &registry).await?;
    let (listener, address) = bind(settings).await?;
    tracing::info!(%address, "listening");
    let prepared = async {
        match prepare(&store, &config, settings.migrate).await {
            Ok(()) => health.prepared(),
            Err(failure) => return failure,
        }
        std::future::pending().await
    };
    let ended = tokio::select! {
        ended = until_stopped(listener, service, settings, signals) => ended,
        failure = prepared => Err(failure),
    };
    store.close().await;
    ended
}

/// Waits for the database as long as it takes; an error is one that waiting cannot mend.
async fn prepare(
    store: &PostgresStore,
    config: &PostgresConfig,
    migrate: bool,
) -> Result<(), Failure> {
    let mut pause = Duration::from_millis(250);
    loop {
        let reason = match attempt(store, config, migrate).await {
            Ok(()) => {
                tracing::info!("the database is there and its schema fits");
                return Ok(());
            }
            Err(Trouble::Wrong(failure)) => return Err(failure),
            Err(Trouble::Away(reason)) => reason,
        };
        tracing::warn!(
            reason,
            "the database does not answer; not ready, trying again"
        );
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

async fn attempt(
    store: &PostgresStore,
    config: &PostgresConfig,
    migrate: bool,
) -> Result<(), Trouble> {
    if migrate {
        let report = store::migrate(config).await?;
        tracing::info!(report, "migrated");
    }
    store::check(store).await
}
