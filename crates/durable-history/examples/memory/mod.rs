//! The memory service the examples speak to: `serve --dev`, or any other whose address and key are given.

use std::env;
use std::error::Error;
use std::sync::Arc;

use prometheus::Registry;
use throughline_client::{Client, Keys};
use throughline_conversation_memory::ChannelKind;
use throughline_domain::{SystemClock, SystemIds, TenantId};
use throughline_durable_history::{
    DurableConversationHistory, HistoryConfig, HistoryMetrics, MemoryWatch, Parts,
};

/// Where `serve --dev` listens if it is not told otherwise.
const ADDRESS: &str = "http://127.0.0.1:8080";
/// The tenant it has.
const TENANT: &str = "dev";

pub(crate) struct Memory {
    pub(crate) tenant: TenantId,
    pub(crate) watch: MemoryWatch,
    pub(crate) metrics: HistoryMetrics,
}

impl Memory {
    /// The service at `CCM_URL`, with the key in `CCM_DEV_KEY`.
    pub(crate) fn from_env() -> Result<Self, Box<dyn Error>> {
        let address = env::var("CCM_URL").unwrap_or_else(|_| ADDRESS.to_owned());
        let key = env::var("CCM_DEV_KEY")
            .map_err(|_| "set CCM_DEV_KEY to the key that `serve --dev` was started with")?;
        let client = Client::builder(&address, Keys::one(&key)?).build()?;
        Ok(Self {
            tenant: TenantId::parse(TENANT)?,
            watch: MemoryWatch::always(client.into()),
            metrics: HistoryMetrics::register(&Registry::new())?,
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
