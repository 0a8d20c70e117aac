//! A spool in a directory of its own, with a clock that stands still.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;
use throughline_domain::{ManualClock, SeededIds, TenantId, Timestamp};
use throughline_spool::{Entry, EntryId, NewEntry, OpenError, Spool, SpoolConfig, SpoolKey};

pub(crate) struct Fixture {
    pub(crate) directory: TempDir,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) config: SpoolConfig,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        Self::with(SpoolConfig::default())
    }

    pub(crate) fn with(mut config: SpoolConfig) -> Self {
        // Tests that do not look at gathering do not wait for it.
        config.flush_interval = Duration::ZERO;
        Self {
            directory: tempfile::tempdir().unwrap(),
            clock: Arc::new(ManualClock::at(Timestamp::from_millis(1_750_000_000_000))),
            config,
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) async fn open(&self) -> Spool {
        self.try_open(&key(1)).await.unwrap()
    }

    pub(crate) async fn try_open(&self, key: &SpoolKey) -> Result<Spool, OpenError> {
        let ids = Arc::new(SeededIds::from_seed(1));
        Spool::open(
            self.path(),
            self.config.clone(),
            key,
            self.clock.clone(),
            ids,
        )
        .await
    }
}

pub(crate) fn key(seed: u8) -> SpoolKey {
    SpoolKey::from_bytes(std::array::from_fn(|i| {
        seed.wrapping_add(u8::try_from(i).unwrap())
    }))
}

pub(crate) fn tenant(name: &str) -> TenantId {
    TenantId::parse(name).unwrap()
}

pub(crate) fn entry(tenant_name: &str, key: &str) -> NewEntry {
    NewEntry {
        tenant: tenant(tenant_name),
        user: None,
        key: key.to_owned(),
        order: None,
        digest: None,
        payload: format!("payload of {key}").into_bytes(),
    }
}

pub(crate) fn in_line(tenant_name: &str, order: &str, key: &str) -> NewEntry {
    NewEntry {
        order: Some(order.to_owned()),
        ..entry(tenant_name, key)
    }
}

pub(crate) fn keys(entries: &[Entry]) -> Vec<&str> {
    entries.iter().map(|entry| entry.key.as_str()).collect()
}

pub(crate) fn ids(entries: &[Entry]) -> Vec<EntryId> {
    entries.iter().map(|entry| entry.id).collect()
}
