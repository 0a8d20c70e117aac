//! The tenant's rules of redaction, read from its configuration.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use moka::future::Cache;
use throughline_conversation_memory::Cause;
use throughline_domain::TenantId;
use throughline_redaction::{MaskPolicy, MaskStyle};
use throughline_tenancy::{MaskLook, RedactionMode, Tenancy};

/// How long a tenant's rules are believed. A change is in force everywhere after it.
const BELIEVED: Duration = Duration::from_secs(1);
const TENANTS: u64 = 10_000;

/// What applies to one tenant.
#[derive(Clone, Debug, PartialEq)]
pub struct Rules {
    /// When a turn is scanned, and what of it is stored.
    pub mode: RedactionMode,
    /// What is masked, and how it looks.
    pub masks: MaskPolicy,
    /// Which of the tenant's configurations says so.
    pub revision: u64,
}

/// Where rules come from.
#[async_trait]
pub trait TenantRules: Send + Sync {
    /// The tenant's rules; `None` when there is no such tenant.
    async fn rules(&self, tenant: &TenantId) -> Result<Option<Arc<Rules>>, Cause>;
}

/// Rules out of the tenants' configuration, believed for a second.
pub(crate) struct Configured {
    tenancy: Arc<dyn Tenancy>,
    known: Cache<TenantId, Option<Arc<Rules>>>,
    mask_key: [u8; 32],
}

impl Configured {
    /// `mask_key` tells equal values apart in numbered masks, within one turn only; it need not
    /// outlive the process.
    pub(crate) fn new(tenancy: Arc<dyn Tenancy>, mask_key: [u8; 32]) -> Self {
        let known = Cache::builder()
            .max_capacity(TENANTS)
            .time_to_live(BELIEVED)
            .build();
        Self {
            tenancy,
            known,
            mask_key,
        }
    }

    async fn read(&self, tenant: &TenantId) -> Result<Option<Arc<Rules>>, Cause> {
        let read = self.tenancy.tenant(tenant).await.map_err(Cause::new)?;
        Ok(read.map(|tenant| {
            let style = match tenant.config.mask_style {
                MaskLook::Label => MaskStyle::Label,
                MaskLook::SameLength => MaskStyle::SameLength,
                MaskLook::Numbered => MaskStyle::Numbered {
                    key: self.mask_key.to_vec(),
                },
            };
            Arc::new(Rules {
                mode: tenant.config.redaction_mode,
                masks: MaskPolicy::default().styled(style),
                revision: tenant.config_revision,
            })
        }))
    }
}

#[async_trait]
impl TenantRules for Configured {
    async fn rules(&self, tenant: &TenantId) -> Result<Option<Arc<Rules>>, Cause> {
        if let Some(known) = self.known.get(tenant).await {
            return Ok(known);
        }
        let rules = self.read(tenant).await?;
        self.known.insert(tenant.clone(), rules.clone()).await;
        Ok(rules)
    }
}
