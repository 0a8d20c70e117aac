//! A store on a database of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use throughline_conversation_memory::ConversationMemory;
use throughline_conversation_memory::contract::Subject as MemorySubject;
use throughline_domain::{ManualClock, SystemIds, TenantId, Timestamp, UserId};
use throughline_platform_identity::contract::Subject as IdentitySubject;
use throughline_platform_identity::{ChannelUser, PlatformIdentity, PlatformKind};
use throughline_scratch_postgres::{Database, Shared};
use throughline_tenancy::contract::Subject as TenancySubject;
use throughline_tenancy::{Tenancy, TenantConfig};

use crate::{PostgresConfig, PostgresStore, StatementMode, WriteStrategy, WriterOptions, migrate};

/// A migrated database with a store on it; both go with the value.
pub(super) struct Scratch {
    pub(super) store: Arc<PostgresStore>,
    pub(super) clock: Arc<ManualClock>,
    pub(super) database: Database,
    next_user: AtomicU64,
}

impl Scratch {
    pub(super) async fn new() -> Self {
        Self::configured(|_| {}).await
    }

    pub(super) async fn configured(change: impl FnOnce(&mut PostgresConfig)) -> Self {
        let database = migrated().await;
        let mut config = PostgresConfig::new(database.url().into());
        change(&mut config);
        Self::on(database, Some(config))
    }

    /// On that database; without a configuration, with the default one.
    pub(super) fn on(database: Database, config: Option<PostgresConfig>) -> Self {
        let config = config.unwrap_or_else(|| PostgresConfig::new(database.url().into()));
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_700_000_000_000)));
        let registry = prometheus::Registry::new();
        let store =
            PostgresStore::connect(config, clock.clone(), Arc::new(SystemIds), &registry).unwrap();
        Self {
            store,
            clock,
            database,
            next_user: AtomicU64::new(0),
        }
    }

    pub(super) async fn acme(&self) -> TenantId {
        MemorySubject::tenant(self, "acme", 90).await
    }
}

/// A database at this binary's schema, copied from the run's template.
pub(super) async fn migrated() -> Database {
    let key = format!(
        "provider {:?}",
        crate::migrate::MIGRATOR.iter().collect::<Vec<_>>()
    );
    let shared = Shared::attach().unwrap();
    let prepare = async |url: &str| migrate(&PostgresConfig::new(url.into())).await.map(|_| ());
    shared
        .database_from_template_async(&key, prepare)
        .await
        .unwrap()
}

pub(super) async fn prepared() -> Scratch {
    Scratch::new().await
}

pub(super) async fn unnamed() -> Scratch {
    Scratch::configured(|config| config.statement_mode = StatementMode::Unnamed).await
}

pub(super) async fn direct() -> Scratch {
    Scratch::configured(|config| config.write_strategy = WriteStrategy::Direct).await
}

pub(super) async fn one_tenant_each() -> Scratch {
    Scratch::configured(|config| {
        config.write_strategy = WriteStrategy::Group(WriterOptions {
            one_tenant_each: true,
            ..WriterOptions::default()
        });
    })
    .await
}

impl TenancySubject for Scratch {
    fn tenancy(&self) -> Arc<dyn Tenancy> {
        self.store.clone()
    }

    fn clock(&self) -> Arc<ManualClock> {
        self.clock.clone()
    }
}

#[async_trait]
impl IdentitySubject for Scratch {
    fn identity(&self) -> Arc<dyn PlatformIdentity> {
        self.store.clone()
    }

    fn clock(&self) -> Arc<ManualClock> {
        self.clock.clone()
    }

    async fn tenant(&self, name: &str) -> TenantId {
        MemorySubject::tenant(self, name, 90).await
    }
}

#[async_trait]
impl MemorySubject for Scratch {
    fn memory(&self) -> Arc<dyn ConversationMemory> {
        self.store.clone()
    }

    fn clock(&self) -> Arc<ManualClock> {
        self.clock.clone()
    }

    async fn tenant(&self, name: &str, ttl_days: u32) -> TenantId {
        let tenant = TenantId::parse(name).unwrap();
        self.store
            .create_tenant(
                &tenant,
                TenantConfig {
                    ttl_days,
                    ..TenantConfig::default()
                },
            )
            .await
            .unwrap();
        tenant
    }

    async fn set_ttl(&self, tenant: &TenantId, ttl_days: u32) {
        self.store
            .configure(
                tenant,
                TenantConfig {
                    ttl_days,
                    ..TenantConfig::default()
                },
                None,
            )
            .await
            .unwrap();
    }

    async fn user(&self, tenant: &TenantId) -> UserId {
        let number = self.next_user.fetch_add(1, Ordering::Relaxed);
        let who = ChannelUser::new(PlatformKind::Custom, &format!("scratch {number}")).unwrap();
        self.store.resolve(tenant, &who).await.unwrap().user_id
    }
}
