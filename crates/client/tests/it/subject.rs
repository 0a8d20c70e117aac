//! A service on a socket of its own, and a client of it: the third subject of the suites.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use prometheus::Registry;
use throughline_api::{
    AppendCounters, Capabilities, Draining, JobAsk, JobControl, JobRefusal, NotReady, Settings,
    StoreHealth, router,
};
use throughline_append_queue::{Keeper, QueueMetrics};
use throughline_client::{Client, Keys};
use throughline_conversation_memory::contract as memory_contract;
use throughline_conversation_memory::{Audit, ConversationMemory, Outbox};
use throughline_domain::{Actor, ManualClock, SystemIds, TenantId, Timestamp, UserId};
use throughline_erasure::Erasure;
use throughline_erasure::contract as one_person_contract;
use throughline_platform_identity::contract as identity_contract;
use throughline_platform_identity::{ChannelUser, PlatformIdentity, PlatformKind};
use throughline_provider_in_memory::InMemoryStore;
use throughline_redacted_memory::RedactedMemory;
use throughline_tenancy::{NewKey, Scope, Tenancy, TenantConfig};
use throughline_wire::JobRunAnswer;
use tokio::net::TcpListener;
use tokio_util::task::TaskTracker;

use crate::minting::Minting;
use crate::scanned::Scanned;

pub(crate) const NOW_MS: i64 = 1_700_000_000_000;

/// A service whose clock stands still.
pub(crate) struct Service {
    pub(crate) store: Arc<InMemoryStore>,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) url: String,
    pub(crate) operator: String,
    users: AtomicU64,
}

/// The same with a client that holds a key of each tenant, and an operator's for the rest.
pub(crate) struct Subject {
    service: Service,
    client: Arc<Client>,
    keys: Keys,
}

struct Healthy;

#[async_trait]
impl StoreHealth for Healthy {
    async fn check(&self) -> Result<(), NotReady> {
        Ok(())
    }
}

struct NoJobs;

#[async_trait]
impl JobControl for NoJobs {
    async fn run_now(&self, _: &str, _: JobAsk) -> Result<JobRunAnswer, JobRefusal> {
        Err(JobRefusal::UnknownJob(Vec::new()))
    }
}

/// The router over the in-memory provider, as `serve --dev` puts them together.
pub(crate) async fn service() -> Service {
    service_with(Settings::default(), |_, _| {}).await
}

/// As [`service`], with other settings and some capabilities replaced.
pub(crate) async fn service_with(
    settings: Settings,
    change: impl FnOnce(&mut Capabilities, Arc<InMemoryStore>),
) -> Service {
    let clock = Arc::new(ManualClock::at(Timestamp::from_millis(NOW_MS)));
    let ids = Arc::new(SystemIds);
    let store = InMemoryStore::new(clock.clone(), ids.clone());
    let registry = Registry::new();
    let memory = RedactedMemory::built_in(
        store.clone(),
        store.clone(),
        clock.clone(),
        ids.as_ref(),
        &registry,
    );
    let memory = memory.expect("registered once");
    let outbox = Arc::new(memory.outbox(store.clone()));
    let metrics = QueueMetrics::register(&registry, None, clock.clone()).expect("registered once");
    let keeper = Keeper::new(outbox.clone(), None, Arc::new(metrics));
    let mut capabilities = Capabilities {
        identity: store.clone(),
        memory: Arc::new(memory),
        queue: Arc::new(keeper),
        outbox,
        appends: Arc::new(AppendCounters::register(&registry).expect("registered once")),
        raw: store.clone(),
        audit: store.clone(),
        erasure: store.clone(),
        tenancy: store.clone(),
        clock: clock.clone(),
        ids,
        store: Arc::new(Healthy),
        jobs: Arc::new(NoJobs),
    };
    change(&mut capabilities, store.clone());
    let router =
        router(capabilities, &settings, &registry, Draining::new()).expect("registered once");
    // The actor in whose name the suites act: over HTTP it is the key's.
    let actor = Actor::parse("olga").expect("well-formed");
    let operator = store.mint_operator_key(&actor, "").await.expect("minted");
    let listener = TcpListener::bind("127.0.0.1:0")
        .await
        .expect("loopback has a free port");
    let url = format!(
        "http://{}",
        listener
            .local_addr()
            .expect("a bound socket has an address")
    );
    TaskTracker::new().spawn(async move { axum::serve(listener, router).await });
    Service {
        store,
        clock,
        url,
        operator: operator.token.reveal().to_owned(),
        users: AtomicU64::new(0),
    }
}

impl Service {
    pub(crate) async fn tenant(&self, name: &str, config: TenantConfig) -> TenantId {
        let tenant = TenantId::parse(name).expect("a plain name");
        let made = self.store.create_tenant(&tenant, config).await;
        made.expect("a new tenant");
        tenant
    }

    /// A key of that tenant with these scopes.
    pub(crate) async fn key(&self, tenant: &TenantId, scopes: &[Scope]) -> String {
        let key = NewKey {
            label: String::new(),
            scopes: scopes.iter().copied().collect(),
        };
        let minted = self.store.mint_key(tenant, key).await.expect("minted");
        minted.token.reveal().to_owned()
    }

    /// A client with the operator's key.
    pub(crate) fn client(&self) -> Client {
        let keys = Keys::one(&self.operator).expect("a usable key");
        Client::builder(&self.url, keys)
            .build()
            .expect("a usable address")
    }

    pub(crate) async fn user(&self, tenant: &TenantId) -> UserId {
        let number = self.users.fetch_add(1, Ordering::SeqCst);
        let who = ChannelUser::new(PlatformKind::Custom, &format!("subject-{number}"));
        let resolved = self.store.resolve(tenant, &who.expect("a plain id")).await;
        resolved.expect("resolves").user_id
    }
}

/// A service of its own.
pub(crate) async fn subject() -> Subject {
    let service = service_with(Settings::default(), |capabilities, store| {
        capabilities.memory = Arc::new(Scanned(store));
    });
    let service = service.await;
    let keys = Keys::none();
    keys.set_operator(&service.operator).expect("a usable key");
    let client = Client::builder(&service.url, keys.clone()).build();
    Subject {
        client: Arc::new(client.expect("a usable setup")),
        keys,
        service,
    }
}

impl Subject {
    async fn tenant(&self, name: &str, config: TenantConfig) -> TenantId {
        let tenant = self.service.tenant(name, config).await;
        let key = self.service.key(&tenant, &Scope::ALL).await;
        self.keys.set(tenant.clone(), &key).expect("a usable key");
        tenant
    }
}

#[async_trait]
impl identity_contract::Subject for Subject {
    fn identity(&self) -> Arc<dyn PlatformIdentity> {
        self.client.clone()
    }

    fn clock(&self) -> Arc<ManualClock> {
        self.service.clock.clone()
    }

    async fn tenant(&self, name: &str) -> TenantId {
        Self::tenant(self, name, TenantConfig::default()).await
    }
}

#[async_trait]
impl memory_contract::Subject for Subject {
    fn memory(&self) -> Arc<dyn ConversationMemory> {
        self.client.clone()
    }

    fn clock(&self) -> Arc<ManualClock> {
        self.service.clock.clone()
    }

    async fn tenant(&self, name: &str, ttl_days: u32) -> TenantId {
        let config = TenantConfig {
            ttl_days,
            ..TenantConfig::default()
        };
        Self::tenant(self, name, config).await
    }

    async fn set_ttl(&self, tenant: &TenantId, ttl_days: u32) {
        let store = &self.service.store;
        let read = store.tenant(tenant).await.expect("reads");
        let mut config = read.expect("a tenant").config;
        config.ttl_days = ttl_days;
        let changed = store.configure(tenant, config, None).await;
        changed.expect("changed");
    }

    async fn user(&self, tenant: &TenantId) -> UserId {
        self.service.user(tenant).await
    }
}

/// What a client has no part in is asked of the store itself.
#[async_trait]
impl one_person_contract::Subject for Subject {
    fn tenancy(&self) -> Arc<dyn Tenancy> {
        Arc::new(Minting {
            store: self.service.store.clone(),
            keys: self.keys.clone(),
        })
    }

    fn identity(&self) -> Arc<dyn PlatformIdentity> {
        self.client.clone()
    }

    fn memory(&self) -> Arc<dyn ConversationMemory> {
        self.client.clone()
    }

    fn erasure(&self) -> Arc<dyn Erasure> {
        self.client.clone()
    }

    fn outbox(&self) -> Arc<dyn Outbox> {
        self.service.store.clone()
    }

    fn audit(&self) -> Arc<dyn Audit> {
        self.service.store.clone()
    }

    fn clock(&self) -> Arc<ManualClock> {
        self.service.clock.clone()
    }

    async fn dump(&self) -> Option<String> {
        None
    }
}
