//! What /readyz asks of the database.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use throughline_api::{NotReady, StoreHealth};
use throughline_provider_postgres::PostgresStore;

use crate::failure::chain;

/// Not ready until the schema was seen to fit once; from then on ready while the database answers. The
/// schema is not looked at again: a newer release may migrate it while this one still serves.
pub(crate) struct DatabaseHealth {
    store: Arc<PostgresStore>,
    prepared: AtomicBool,
}

impl DatabaseHealth {
    /// Not prepared yet.
    pub(crate) fn new(store: Arc<PostgresStore>) -> Self {
        Self {
            store,
            prepared: AtomicBool::new(false),
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
        self.store.ping().await.map_err(|error| NotReady {
            reason: "store_unavailable",
            detail: chain(&error),
        })
    }
}
