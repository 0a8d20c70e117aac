//! Making, listing and configuring tenants.

use std::collections::btree_map::Entry;
use std::ops::Bound;

use throughline_domain::{TenantId, Timestamp};
use throughline_tenancy::{TenancyError, Tenant, TenantConfig, TenantStatus};

use crate::state::{State, TenantState};

pub(super) fn create(
    state: &mut State,
    tenant: &TenantId,
    config: TenantConfig,
    now: Timestamp,
) -> Result<Tenant, TenancyError> {
    let Entry::Vacant(place) = state.tenants.entry(tenant.clone()) else {
        return Err(TenancyError::TenantExists(tenant.clone()));
    };
    let made = Tenant {
        id: tenant.clone(),
        status: TenantStatus::Active,
        config,
        config_revision: 1,
        erasure_epoch: 0,
        created_at: now,
    };
    place.insert(TenantState::new(made.clone()));
    Ok(made)
}

pub(super) fn list(state: &State, after: Option<&TenantId>, limit: u32) -> Vec<Tenant> {
    let from = after.map_or(Bound::Unbounded, Bound::Excluded);
    state
        .tenants
        .range::<TenantId, _>((from, Bound::Unbounded))
        .take(usize::try_from(limit).unwrap_or(usize::MAX))
        .map(|(_, state)| state.tenant.clone())
        .collect()
}

pub(super) fn configure(
    tenant: &mut Tenant,
    config: TenantConfig,
    expected_revision: Option<u64>,
) -> Result<Tenant, TenancyError> {
    let current = tenant.config_revision;
    if expected_revision.is_some_and(|expected| expected != current) {
        return Err(TenancyError::StaleRevision { current });
    }
    tenant.config = config;
    tenant.config_revision += 1;
    Ok(tenant.clone())
}
