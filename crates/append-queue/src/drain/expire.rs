//! Dead letters are not kept for ever: as long as the tenant says, and never longer than the turn would have been (T-37).

use std::collections::BTreeSet;
use std::time::Duration;

use throughline_conversation_memory::DueTenants;
use throughline_domain::TenantId;
use throughline_spool::Expiry;

use super::sweep::Sweep;

/// No tenant keeps them for more.
const LONGEST: Duration = Duration::from_hours(14 * 24);
/// No tenant keeps them for less.
const SHORTEST: Duration = Duration::from_hours(24);
const TENANTS: u32 = 1_000;
const CHUNK: u32 = 1_000;

impl Sweep<'_> {
    /// What fails here is done by the next sweep.
    pub(super) async fn expire(&mut self) {
        let before = self.deps.clock.now().minus(SHORTEST);
        let due = DueTenants::Expire(before);
        let named = self.deps.outbox.tenants(due, None, TENANTS).await;
        for tenant in named.unwrap_or_default() {
            let died_before = self.deps.clock.now().minus(self.life_of(&tenant).await);
            let outbox = &self.deps.outbox;
            while let Ok(deleted) = outbox.expire(&tenant, died_before, CHUNK).await {
                self.report.expired += deleted;
                if deleted < u64::from(CHUNK) || self.should_stop() {
                    break;
                }
            }
        }
        self.expire_spooled().await;
    }

    async fn expire_spooled(&mut self) {
        let Some(spool) = self.deps.spool.clone() else {
            return;
        };
        if spool.stats().set_aside.entries == 0 {
            return;
        }
        let aside = spool.list_set_aside(None, None, CHUNK as usize).await;
        let tenants: BTreeSet<TenantId> = aside
            .unwrap_or_default()
            .into_iter()
            .map(|entry| entry.tenant)
            .collect();
        for tenant in tenants {
            let expiry = Expiry {
                set_aside_before: self.deps.clock.now().minus(self.life_of(&tenant).await),
                tenant: Some(tenant),
                pending_before: None,
            };
            if let Ok(removed) = spool.expire(expiry).await {
                self.report.expired += removed.set_aside;
            }
        }
    }

    /// Where the tenant cannot be asked, nothing is deleted that it might still keep.
    async fn life_of(&self, tenant: &TenantId) -> Duration {
        match self.deps.tenancy.tenant(tenant).await {
            Ok(Some(tenant)) => tenant.config.dlq_retention(),
            Ok(None) | Err(_) => LONGEST,
        }
    }
}
