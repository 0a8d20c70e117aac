//! What /readyz asks of the database.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use throughline_api::{NotReady, StoreHealth};
use throughline_provider_postgres::{PostgresStore, SchemaError, SchemaStatus};
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::failure::chain;

/// For so long a look at the schema counts; probes come every second, from several sides.
const LOOKED_AT: Duration = Duration::from_secs(5);

/// Not ready until the schema was seen to fit once; from then on ready while the database answers and
/// nothing of the schema is missing. One that is newer is no fault: a later release may migrate it while
/// this one still serves.
pub(crate) struct DatabaseHealth {
    store: Arc<PostgresStore>,
    prepared: AtomicBool,
    looked: Mutex<Option<(Instant, Result<(), NotReady>)>>,
}

impl DatabaseHealth {
    /// Not prepared yet.
    pub(crate) fn new(store: Arc<PostgresStore>) -> Self {
        Self {
            store,
            prepared: AtomicBool::new(false),
            looked: Mutex::default(),
        }
    }

    /// The schema fits.
    pub(crate) fn prepared(&self) {
        self.prepared.store(true, Ordering::Release);
    }
}

#[async_trait]
impl StoreHealth for DatabaseHealth {
    async fn check(&self) -> Result<(), NotReady> {
        if !self.prepared.load(Ordering::Acquire) {
            return Err(NotReady {
                reason: "store_starting",
                detail: "the database was not reached yet, or is being migrated".to_owned(),
            });
        }
        self.store.ping().await.map_err(|error| away(&error))?;
        self.schema().await
    }
}

fn away(error: &(dyn std::error::Error + 'static)) -> NotReady {
    NotReady {
        reason: "store_unavailable",
        detail: chain(error),
    }
}

impl DatabaseHealth {
    /// What a look within the last seconds has shown, else another look; whoever comes meanwhile waits for
    /// it. One that met no database is not kept.
    async fn schema(&self) -> Result<(), NotReady> {
        let mut looked = self.looked.lock().await;
        if let Some((at, found)) = &*looked
            && at.elapsed() < LOOKED_AT
        {
            return found.clone();
        }
        let found = match look(&self.store).await {
            Err(error @ SchemaError::Unavailable(_)) => return Err(away(&error)),
            Err(error) => Err(unfit(chain(&error))),
            Ok(found) => found,
        };
        *looked = Some((Instant::now(), found.clone()));
        found
    }
}

async fn look(store: &PostgresStore) -> Result<Result<(), NotReady>, SchemaError> {
    let detail = match store.schema_status().await? {
        SchemaStatus::UpToDate | SchemaStatus::Ahead { .. } => {
            let missing = store.missing_tables().await?;
            if missing.is_empty() {
                return Ok(Ok(()));
            }
            format!("tables are missing: {}", missing.join(", "))
        }
        SchemaStatus::Missing => "there is no schema any more; run throughline migrate".to_owned(),
        SchemaStatus::Behind { applied, known } => format!(
            "the schema is at version {applied}, this binary needs {known}; run throughline migrate"
        ),
    };
    Ok(Err(unfit(detail)))
}

fn unfit(detail: String) -> NotReady {
    NotReady {
        reason: "schema_unfit",
        detail,
    }
}
