//! What every handler may use: no capability is among it.

use std::sync::Arc;

use prometheus::Registry;
use secrecy::SecretString;
use throughline_domain::{Clock, Ids};
use throughline_tenancy::TenantConfig;

use crate::counters::Counters;
use crate::pages::Pages;
use crate::{Capabilities, Draining, Settings, StoreHealth};

/// The router's state.
#[derive(Clone)]
pub(crate) struct Shared(Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) body_limit: usize,
    pub(crate) body_timeout: std::time::Duration,
    pub(crate) metrics_token: Option<SecretString>,
    pub(crate) metrics_open: bool,
    pub(crate) new_tenants: TenantConfig,
    pub(crate) counters: Counters,
    pub(crate) pages: Pages,
    pub(crate) registry: Registry,
    pub(crate) draining: Draining,
    pub(crate) store: Arc<dyn StoreHealth>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn Ids>,
}

impl Shared {
    pub(crate) fn new(
        capabilities: &Capabilities,
        settings: &Settings,
        registry: &Registry,
        draining: Draining,
    ) -> Result<Self, prometheus::Error> {
        Ok(Self(Arc::new(Inner {
            body_limit: settings.body_limit,
            body_timeout: settings.body_timeout,
            metrics_token: settings.metrics_token.clone(),
            metrics_open: settings.metrics_open,
            new_tenants: settings.new_tenants.clone(),
            counters: Counters::register(registry, Arc::clone(&capabilities.appends))?,
            pages: Pages::new(settings.read_cache, registry)?,
            registry: registry.clone(),
            draining,
            store: Arc::clone(&capabilities.store),
            clock: Arc::clone(&capabilities.clock),
            ids: Arc::clone(&capabilities.ids),
        })))
    }
}

impl std::ops::Deref for Shared {
    type Target = Inner;
    fn deref(&self) -> &Inner {
        &self.0
    }
}
