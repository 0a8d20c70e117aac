//! A fresh store for each test.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use throughline_conversation_memory::contract as memory_contract;
use throughline_conversation_memory::{
    Audit, ConversationMemory, Leases, RawReads, RedactionQueue, Retention,
};
use throughline_domain::{Actor, ManualClock, SystemIds, TenantId, Timestamp, UserId};
use throughline_erasure::Erasure;
use throughline_erasure::contract as one_person_contract;
use throughline_platform_identity::contract as identity_contract;
use throughline_platform_identity::{ChannelUser, MergeSource, PlatformIdentity, PlatformKind};
use throughline_provider_in_memory::InMemoryStore;
use throughline_tenancy::contract as tenancy_contract;
use throughline_tenancy::{Tenancy, TenantConfig};

/// The in-memory store under test.
pub(crate) struct Subject {
    pub(crate) store: Arc<InMemoryStore>,
    pub(crate) clock: Arc<ManualClock>,
    users: AtomicU64,
}

/// A store of its own with a clock that stands still.
pub(crate) async fn subject() -> Subject {
    let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_700_000_000_000)));
    Subject {
        store: InMemoryStore::new(clock.clone(), Arc::new(SystemIds)),
        clock,
        users: AtomicU64::new(0),
    }
}

impl Subject {
    pub(crate) async fn tenant(&self, name: &str, config: TenantConfig) -> TenantId {
        let tenant = TenantId::parse(name).expect("a plain name");
        let made = self.store.create_tenant(&tenant, config).await;
        made.expect("a new tenant");
        tenant
    }
}

impl tenancy_contract::Subject for Subject {
    fn tenancy(&self) -> Arc<dyn Tenancy> {
        self.store.clone()
    }

    fn clock(&self) -> Arc<ManualClock> {
        self.clock.clone()
    }
}

#[async_trait]
impl identity_contract::Subject for Subject {
    fn identity(&self) -> Arc<dyn PlatformIdentity> {
        self.store.clone()
    }

    fn clock(&self) -> Arc<ManualClock> {
        self.clock.clone()
    }

    async fn tenant(&self, name: &str) -> TenantId {
        Self::tenant(self, name, TenantConfig::default()).await
    }
}

#[async_trait]
impl memory_contract::Subject for Subject {
    fn memory(&self) -> Arc<dyn ConversationMemory> {
        self.store.clone()
    }

    fn clock(&self) -> Arc<ManualClock> {
        self.clock.clone()
    }

    async fn tenant(&self, name: &str, ttl_days: u32) -> TenantId {
        Self::tenant(
            self,
            name,
            TenantConfig {
                ttl_days,
                ..TenantConfig::default()
            },
        )
        .await
    }

    async fn set_ttl(&self, tenant: &TenantId, ttl_days: u32) {
        let read = self.store.tenant(tenant).await.expect("reads");
        let mut config = read.expect("a tenant").config;
        config.ttl_days = ttl_days;
        let changed = self.store.configure(tenant, config, None).await;
        changed.expect("changed");
    }

    async fn user(&self, tenant: &TenantId) -> UserId {
        let number = self.users.fetch_add(1, Ordering::SeqCst);
        let who = ChannelUser::new(PlatformKind::Custom, &number.to_string());
        let resolved = self.store.resolve(tenant, &who.expect("a plain id")).await;
        resolved.expect("resolves").user_id
    }
}

#[async_trait]
impl memory_contract::RetentionSubject for Subject {
    fn retention(&self) -> Arc<dyn Retention> {
        self.store.clone()
    }

    fn leases(&self) -> Arc<dyn Leases> {
        self.store.clone()
    }

    async fn set_caps(&self, tenant: &TenantId, turns: u64, bytes: u64) {
        let read = self.store.tenant(tenant).await.expect("reads");
        let mut config = read.expect("a tenant").config;
        (config.turn_cap, config.byte_cap) = (turns, bytes);
        let changed = self.store.configure(tenant, config, None).await;
        changed.expect("changed");
    }

    /// A merge is what writes one.
    async fn write_audit_entry(&self, tenant: &TenantId) {
        let one = memory_contract::Subject::user(self, tenant).await;
        let other = memory_contract::Subject::user(self, tenant).await;
        let actor = Actor::parse("root").expect("a plain name");
        let merged = self
            .store
            .merge(tenant, one, other, MergeSource::Manual, &actor)
            .await;
        merged.expect("merged");
    }
}

impl memory_contract::RedactionSubject for Subject {
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
impl one_person_contract::Subject for Subject {
    fn tenancy(&self) -> Arc<dyn Tenancy> {
        self.store.clone()
    }

    fn identity(&self) -> Arc<dyn PlatformIdentity> {
        self.store.clone()
    }

    fn memory(&self) -> Arc<dyn ConversationMemory> {
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

    async fn dump(&self) -> Option<String> {
        None
    }
}

impl one_person_contract::SweptSubject for Subject {
    fn retention(&self) -> Arc<dyn Retention> {
        self.store.clone()
    }
}
