//! A store on a database of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use throughline_conversation_memory::contract::{
    OutboxSubject, RedactionSubject, RetentionSubject, Subject as MemorySubject,
};
use throughline_conversation_memory::{
    Audit, ConversationMemory, Leases, Outbox, RawReads, RedactionQueue, Retention,
};
use throughline_domain::{Actor, ManualClock, SystemIds, TenantId, Timestamp, UserId};
use throughline_erasure::Erasure;
use throughline_erasure::contract::{
    Subject as OnePersonSubject, SweptSubject as OnePersonSweptSubject,
};
use throughline_platform_identity::contract::Subject as IdentitySubject;
use throughline_platform_identity::{ChannelUser, MergeSource, PlatformIdentity, PlatformKind};
use throughline_scratch_postgres::{Database, Installation, Shared};
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

impl OutboxSubject for Scratch {
    fn outbox(&self) -> Arc<dyn Outbox> {
        self.store.clone()
    }
}

impl RedactionSubject for Scratch {
    fn queue(&self) -> Arc<dyn RedactionQueue> {
        self.store.clone()
    }

    fn raw(&self) -> Arc<dyn RawReads> {
        self.store.clone()
    }

    fn audit(&self) -> Arc<dyn Audit> {
        self.store.clone()
    }
}

#[async_trait]
impl OnePersonSubject for Scratch {
    fn tenancy(&self) -> Arc<dyn Tenancy> {
        self.store.clone()
    }

    fn identity(&self) -> Arc<dyn PlatformIdentity> {
        self.store.clone()
    }

    fn memory(&self) -> Arc<dyn ConversationMemory> {
        self.store.clone()
    }

    fn outbox(&self) -> Arc<dyn Outbox> {
        self.store.clone()
    }

    fn erasure(&self) -> Arc<dyn Erasure> {
        self.store.clone()
    }

    fn audit(&self) -> Arc<dyn Audit> {
        self.store.clone()
    }

    fn clock(&self) -> Arc<ManualClock> {
        self.clock.clone()
    }

    /// `pg_dump`, one insert a row, so that each line says its table.
    async fn dump(&self) -> Option<String> {
        let programs = Installation::find().unwrap();
        let dumped = std::process::Command::new(programs.tool("pg_dump").unwrap())
            .args(["--data-only", "--inserts", "--dbname", self.database.url()])
            .output()
            .unwrap();
        assert!(
            dumped.status.success(),
            "{}",
            String::from_utf8_lossy(&dumped.stderr)
        );
        Some(String::from_utf8(dumped.stdout).unwrap())
    }
}

#[async_trait]
impl RetentionSubject for Scratch {
    fn retention(&self) -> Arc<dyn Retention> {
        self.store.clone()
    }

    fn leases(&self) -> Arc<dyn Leases> {
        self.store.clone()
    }

    async fn set_caps(&self, tenant: &TenantId, turns: u64, bytes: u64) {
        let read = self.store.tenant(tenant).await.unwrap();
        let mut config = read.unwrap().config;
        (config.turn_cap, config.byte_cap) = (turns, bytes);
        self.store.configure(tenant, config, None).await.unwrap();
    }

    /// A merge is what writes one.
    async fn write_audit_entry(&self, tenant: &TenantId) {
        let one = MemorySubject::user(self, tenant).await;
        let other = MemorySubject::user(self, tenant).await;
        let actor = Actor::parse("root").unwrap();
        let merged = self
            .store
            .merge(tenant, one, other, MergeSource::Manual, &actor)
            .await;
        merged.unwrap();
    }
}

impl OnePersonSweptSubject for Scratch {
    fn retention(&self) -> Arc<dyn Retention> {
        self.store.clone()
    }
}
