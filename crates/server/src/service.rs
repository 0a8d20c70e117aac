//! The composition: a store behind the capabilities, the capabilities behind the router.

use std::sync::Arc;

use async_trait::async_trait;
use axum::Router;
use prometheus::Registry;
use throughline_api::{AppendCounters, Capabilities, Draining, NotReady, RateLimit, StoreHealth};
use throughline_conversation_memory::{
    Audit, ConversationMemory, Leases, Outbox, RawReads, RedactionQueue, Retention,
};
use throughline_domain::{Ids as _, SystemClock, SystemIds};
use throughline_erasure::Erasure;
use throughline_jobs::Jobs;
use throughline_platform_identity::{Cached, PlatformIdentity};
use throughline_provider_in_memory::InMemoryStore;
use throughline_redacted_memory::{RedactedMemory, Scanner};
use throughline_tenancy::{Tenancy, TenantConfig};

use crate::failure::Failure;
use crate::jobs::{self, Asked, Work};
use crate::queue::{self, Queue};
use crate::server::Limits;
use crate::settings::Settings;

/// The router, the switch that turns /readyz to 503, where appends wait, and what runs by the clock.
pub(crate) struct Service {
    pub(crate) queue: Queue,
    pub(crate) router: Router,
    pub(crate) draining: Draining,
    pub(crate) jobs: Arc<Jobs>,
}

/// Puts one store that has every capability behind the router, and its jobs beside it.
pub(crate) async fn assemble<S>(
    store: &Arc<S>,
    health: Arc<dyn StoreHealth>,
    settings: &Settings,
    registry: &Registry,
) -> Result<Service, Failure>
where
    S: Tenancy
        + PlatformIdentity
        + ConversationMemory
        + Outbox
        + RawReads
        + RedactionQueue
        + Retention
        + Leases
        + Audit
        + Erasure
        + 'static,
{
    let scanner = scanner(registry)?;
    let parts = queue_parts(store, &scanner, registry)?;
    let queue = Queue::open(parts.clone(), settings, registry).await?;
    let work = Work {
        scanner: &scanner,
        drain: queue.drain(),
    };
    let jobs = jobs::start(store, settings, registry, work).await?;
    let capabilities = Capabilities {
        identity: Arc::new(Cached::new(parts.identity)),
        memory: parts.memory,
        queue: queue.keeper(),
        outbox: parts.outbox,
        appends: parts.appends,
        raw: Arc::clone(store) as _,
        audit: Arc::clone(store) as _,
        erasure: queue.erasing(Arc::clone(store) as _),
        tenancy: Arc::clone(store) as _,
        clock: parts.clock,
        ids: parts.ids,
        store: health,
        jobs: Arc::new(Asked(Arc::clone(&jobs))),
    };
    let draining = Draining::default();
    let router = throughline_api::router(
        capabilities,
        &api_settings(settings),
        registry,
        draining.clone(),
    )
    .map_err(|error| unusable(&error))?;
    Ok(Service {
        queue,
        router,
        draining,
        jobs,
    })
}

/// What appends are stored with, looked through on their way, and where they wait.
pub(crate) fn queue_parts<S>(
    store: &Arc<S>,
    scanner: &Scanner,
    registry: &Registry,
) -> Result<queue::Parts, Failure>
where
    S: Tenancy + PlatformIdentity + ConversationMemory + Outbox + RedactionQueue + 'static,
{
    let ids = Arc::new(SystemIds);
    let memory = RedactedMemory::new(
        Arc::clone(store) as _,
        Arc::clone(store) as _,
        scanner.clone(),
        ids.secret(),
    );
    let appends = AppendCounters::register(registry).map_err(|error| unusable(&error))?;
    Ok(queue::Parts {
        outbox: Arc::new(memory.outbox(Arc::clone(store) as _)),
        memory: Arc::new(memory.sending_back(Arc::clone(store) as _)),
        identity: Arc::clone(store) as _,
        tenancy: Arc::clone(store) as _,
        appends: Arc::new(appends),
        clock: Arc::new(SystemClock),
        ids,
    })
}

/// What looks at turns: one for those that come in and those that wait.
pub(crate) fn scanner(registry: &Registry) -> Result<Scanner, Failure> {
    Scanner::built_in(Arc::new(SystemClock), registry).map_err(|error| unusable(&error))
}

pub(crate) fn unusable(error: &prometheus::Error) -> Failure {
    Failure::caused("metrics_unusable", "metrics cannot be registered", error)
}

fn api_settings(settings: &Settings) -> throughline_api::Settings {
    throughline_api::Settings {
        body_limit: settings.body_limit.0,
        body_timeout: settings.body_timeout.0,
        request_timeout: settings.request_timeout.0,
        max_concurrency: settings.max_concurrency.as_usize(),
        rate_limit: settings.rate_limit.0.map(|per_second| RateLimit {
            per_second,
            burst: settings.rate_burst.non_zero(),
        }),
        metrics_token: settings.metrics_token.clone(),
        metrics_open: settings.listen.ip().is_loopback(),
        read_cache: settings.read_cache.0,
        key_cache: settings.key_cache.0,
        key_outage: settings.key_outage.0,
        new_tenants: new_tenant_config(settings),
        ..throughline_api::Settings::default()
    }
}

/// A store in this process's memory.
pub(crate) fn in_memory() -> Arc<InMemoryStore> {
    InMemoryStore::new(Arc::new(SystemClock), Arc::new(SystemIds))
}

/// Memory is always there.
pub(crate) struct AlwaysReady;

#[async_trait]
impl StoreHealth for AlwaysReady {
    async fn check(&self) -> Result<(), NotReady> {
        Ok(())
    }
}

/// The rules of a tenant that is made without rules of its own.
pub(crate) fn new_tenant_config(settings: &Settings) -> TenantConfig {
    TenantConfig {
        ttl_days: settings.ttl_days.0,
        turn_cap: u64::from(settings.turn_cap.0),
        byte_cap: settings.byte_cap.0 as u64,
        audit_retention_days: settings.audit_retention_days.0,
        dlq_retention_days: settings.dlq_retention_days.0,
        ..TenantConfig::default()
    }
}

/// The accept loop's limits.
pub(crate) fn limits(settings: &Settings) -> Limits {
    Limits {
        connections: settings.max_connections.as_usize(),
        header_timeout: settings.header_timeout.0,
        send_timeout: settings.send_timeout.0,
        drain_delay: settings.drain_delay.0,
        deadline: settings.shutdown_deadline.0,
    }
}
