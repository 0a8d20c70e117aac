//! The memory service the examples speak to: one in this process, scanned and masked like a real one.
//! Whatever gives a `MemoryService` takes its place.

use std::error::Error;
use std::sync::Arc;

use prometheus::Registry;
use throughline_conversation_memory::ChannelKind;
use throughline_domain::{SystemClock, SystemIds, TenantId};
use throughline_durable_history::{
    DurableConversationHistory, HistoryConfig, HistoryMetrics, MemoryService, MemoryWatch, Parts,
};
use throughline_provider_in_memory::InMemoryStore;
use throughline_redacted_memory::RedactedMemory;
use throughline_tenancy::{Tenancy, TenantConfig};

pub(crate) struct Memory {
    pub(crate) tenant: TenantId,
    pub(crate) watch: MemoryWatch,
    pub(crate) metrics: HistoryMetrics,
}

impl Memory {
    /// A service with one tenant.
    pub(crate) async fn start() -> Result<Self, Box<dyn Error>> {
        let (clock, ids) = (Arc::new(SystemClock), Arc::new(SystemIds));
        let registry = Registry::new();
        let store = InMemoryStore::new(clock.clone(), ids.clone());
        let tenant = TenantId::parse("acme")?;
        store
            .create_tenant(&tenant, TenantConfig::default())
            .await?;
        let memory =
            RedactedMemory::built_in(store.clone(), store.clone(), clock, ids.as_ref(), &registry)?;
        let service = MemoryService::new(Arc::new(memory)).with_identity(store);
        Ok(Self {
            tenant,
            watch: MemoryWatch::always(service),
            metrics: HistoryMetrics::register(&registry)?,
        })
    }

    /// The one constructor a plugin swaps.
    pub(crate) fn history(
        &self,
        channel: &str,
    ) -> Result<DurableConversationHistory, Box<dyn Error>> {
        Ok(DurableConversationHistory::start(Parts {
            channel: ChannelKind::parse(channel)?,
            memory: self.watch.clone(),
            spool: None,
            metrics: self.metrics.clone(),
            clock: Arc::new(SystemClock),
            ids: Arc::new(SystemIds),
            config: HistoryConfig::default(),
        }))
    }
}
