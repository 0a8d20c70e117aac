//! Claims of jobs on tenants. One process has them for its own jobs only; they behave as those that
//! replicas share.

use std::collections::HashMap;
use std::time::Duration;

use async_trait::async_trait;
use throughline_conversation_memory::{Lease, LeaseOwner, Leases, MemoryError};
use throughline_domain::{TenantId, Timestamp};

use crate::InMemoryStore;

/// The claims of one job.
#[derive(Default)]
pub(crate) struct Claims {
    by_tenant: HashMap<TenantId, Claim>,
    cursor: Option<TenantId>,
}

struct Claim {
    owner: LeaseOwner,
    until: Timestamp,
    finished_at: Option<Timestamp>,
}

#[async_trait]
impl Leases for InMemoryStore {
    async fn acquire(&self, lease: &Lease, life: Duration) -> Result<bool, MemoryError> {
        self.write(|state, now| {
            if !state.tenants.contains_key(&lease.tenant) {
                return Err(MemoryError::UnknownTenant(lease.tenant.clone()));
            }
            let claims = state.claims.entry(lease.job).or_default();
            let claim = claims
                .by_tenant
                .entry(lease.tenant.clone())
                .or_insert(Claim {
                    owner: lease.owner,
                    until: now,
                    finished_at: None,
                });
            if claim.until > now && claim.owner != lease.owner {
                return Ok(false);
            }
            claim.owner = lease.owner;
            claim.until = now.plus(life);
            Ok(true)
        })
    }

    async fn renew(&self, lease: &Lease, life: Duration) -> Result<bool, MemoryError> {
        Ok(self.write(|state, now| {
            let claim = held(state.claims.get_mut(lease.job), lease);
            let held = claim.filter(|claim| claim.until > now);
            held.map(|claim| claim.until = now.plus(life)).is_some()
        }))
    }

    async fn release(&self, lease: &Lease, finished: bool) -> Result<(), MemoryError> {
        self.write(|state, now| {
            if let Some(claim) = held(state.claims.get_mut(lease.job), lease) {
                claim.until = now;
                if finished {
                    claim.finished_at = Some(now);
                }
            }
        });
        Ok(())
    }

    async fn finished_at(
        &self,
        job: &'static str,
        tenant: &TenantId,
    ) -> Result<Option<Timestamp>, MemoryError> {
        Ok(self.read(|state, _| {
            let claim = state.claims.get(job)?.by_tenant.get(tenant)?;
            claim.finished_at
        }))
    }

    async fn cursor(&self, job: &'static str) -> Result<Option<TenantId>, MemoryError> {
        Ok(self.read(|state, _| state.claims.get(job)?.cursor.clone()))
    }

    async fn move_cursor(&self, job: &'static str, to: &TenantId) -> Result<(), MemoryError> {
        self.write(|state, _| state.claims.entry(job).or_default().cursor = Some(to.clone()));
        Ok(())
    }
}

fn held<'a>(claims: Option<&'a mut Claims>, lease: &Lease) -> Option<&'a mut Claim> {
    let claim = claims?.by_tenant.get_mut(&lease.tenant)?;
    Some(claim).filter(|claim| claim.owner == lease.owner)
}
