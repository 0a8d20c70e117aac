//! The memory under test, on a store of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use prometheus::Registry;
use throughline_conversation_memory::contract::Subject;
use throughline_conversation_memory::{
    Appended, ConversationMemory, NewTurn, RecentPage, RecentQuery,
};
use throughline_domain::{ManualClock, SystemIds, TenantId, Timestamp, UserId};
use throughline_platform_identity::{ChannelUser, PlatformIdentity, PlatformKind};
use throughline_provider_in_memory::InMemoryStore;
use throughline_redacted_memory::{Detect, RedactedMemory, RedactionMetrics, Scanner, Sweep};
use throughline_tenancy::{MaskLook, RedactionMode, Tenancy, TenantConfig};

use crate::stand_in::real;

pub(crate) struct Redacted {
    pub(crate) store: Arc<InMemoryStore>,
    pub(crate) memory: Arc<RedactedMemory>,
    pub(crate) scanner: Scanner,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) registry: Registry,
    mode: RedactionMode,
    look: MaskLook,
    users: AtomicU64,
}

/// Tenants scan on the way in, with the real detector.
pub(crate) async fn inline() -> Redacted {
    Redacted::new(RedactionMode::Inline, real())
}

/// Tenants store what they are given.
pub(crate) async fn deferred() -> Redacted {
    Redacted::new(RedactionMode::Deferred, real())
}

impl Redacted {
    pub(crate) fn new(mode: RedactionMode, detector: Arc<dyn Detect>) -> Self {
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_700_000_000_000)));
        let store = InMemoryStore::new(clock.clone(), Arc::new(SystemIds));
        let registry = Registry::new();
        let metrics = Arc::new(RedactionMetrics::register(&registry).unwrap());
        let scanner = Scanner::new(detector, clock.clone(), metrics);
        let memory = over(&store, scanner.clone());
        Self {
            store,
            memory,
            scanner,
            clock,
            registry,
            mode,
            look: MaskLook::default(),
            users: AtomicU64::new(0),
        }
    }

    /// Masks look like that in tenants made from now on.
    pub(crate) fn looking(mut self, look: MaskLook) -> Self {
        self.look = look;
        self
    }

    /// Another scanner, as after a restart with another detector.
    pub(crate) fn scanning_with(mut self, scanner: Scanner) -> Self {
        self.memory = over(&self.store, scanner.clone());
        self.scanner = scanner;
        self
    }

    pub(crate) fn with_detector(self, detector: Arc<dyn Detect>) -> Self {
        let metrics = RedactionMetrics::register(&Registry::new()).unwrap();
        let scanner = Scanner::new(detector, self.clock.clone(), Arc::new(metrics));
        self.scanning_with(scanner)
    }

    pub(crate) fn sweep(&self) -> Sweep {
        Sweep::new(self.store.clone(), self.scanner.clone(), self.clock.clone())
    }

    pub(crate) async fn acme_and_mina(&self) -> (TenantId, UserId) {
        let acme = self.tenant("acme", 90).await;
        let mina = self.user(&acme).await;
        (acme, mina)
    }

    pub(crate) async fn append(&self, tenant: &TenantId, turn: NewTurn) -> Appended {
        self.memory.append(tenant, turn).await.expect("stored")
    }

    pub(crate) async fn page(&self, tenant: &TenantId, user: UserId) -> RecentPage {
        let page = self
            .memory
            .recent(tenant, user, &RecentQuery::default())
            .await;
        page.expect("reads")
    }

    /// The value of a series.
    pub(crate) fn metric(&self, name: &str) -> f64 {
        let families = self.registry.gather();
        let family = families.iter().find(|family| family.name() == name);
        let metric = &family.expect("registered").get_metric()[0];
        metric.get_counter().get_value() + metric.get_gauge().get_value()
    }
}

fn over(store: &Arc<InMemoryStore>, scanner: Scanner) -> Arc<RedactedMemory> {
    let memory = RedactedMemory::new(store.clone(), store.clone(), scanner, [7; 32]);
    Arc::new(memory.sending_back(store.clone()))
}

#[async_trait]
impl Subject for Redacted {
    fn memory(&self) -> Arc<dyn ConversationMemory> {
        self.memory.clone()
    }

    fn clock(&self) -> Arc<ManualClock> {
        self.clock.clone()
    }

    async fn tenant(&self, name: &str, ttl_days: u32) -> TenantId {
        let tenant = TenantId::parse(name).expect("a plain name");
        let config = TenantConfig {
            ttl_days,
            redaction_mode: self.mode,
            mask_style: self.look,
            ..TenantConfig::default()
        };
        let made = self.store.create_tenant(&tenant, config).await;
        made.expect("a new tenant");
        tenant
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
