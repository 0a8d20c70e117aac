//! The client as the memory service of a durable history: its log, its identity, its outbox and the
//! erasures that its answers tell of, in one step.

use std::sync::Arc;

use throughline_domain::TenantId;
use throughline_durable_history::{ErasureEpochs, MemoryService};

use crate::{Client, Epochs};

impl ErasureEpochs for Epochs {
    fn epoch(&self, tenant: &TenantId) -> Option<u64> {
        self.newest(tenant)
    }
}

/// A history over this service speaks with the client's keys, within the client's deadlines.
impl From<Client> for MemoryService {
    fn from(client: Client) -> Self {
        let epochs = Arc::new(client.epochs().clone());
        let client = Arc::new(client);
        Self::new(client.clone())
            .with_identity(client.clone())
            .with_outbox(client)
            .with_epochs(epochs)
    }
}
