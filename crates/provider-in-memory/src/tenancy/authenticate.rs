//! Who holds a token.

use throughline_domain::{KeyId, TenantId};
use throughline_tenancy::{KeyOwner, Principal, TenantStatus};

use crate::state::{State, TokenHash};

/// The hash is over the whole token, so a claim that does not go with its secret finds nothing.
pub(super) fn holder(
    state: &State,
    hash: &TokenHash,
    claims: Option<(KeyOwner, KeyId)>,
) -> Option<Principal> {
    if let Some(seeded) = state.seeded.get(hash) {
        return Some(as_of_now(state, seeded.clone()));
    }
    match claims?.0 {
        KeyOwner::Tenant(tenant) => {
            let record = state.tenants.get(&tenant)?.keys.valid(hash)?;
            Some(Principal::Tenant {
                suspended: is_suspended(state, &tenant),
                tenant,
                key: record.id,
                scopes: record.scopes.clone(),
            })
        }
        KeyOwner::Operator => {
            let record = state.operator_keys.valid(hash)?;
            Some(Principal::Operator {
                actor: record.actor.clone()?,
                key: record.id,
            })
        }
    }
}

fn is_suspended(state: &State, tenant: &TenantId) -> bool {
    let tenant = state.tenants.get(tenant);
    tenant.is_some_and(|state| state.tenant.status == TenantStatus::Suspended)
}

/// A seeded key was written down once; its tenant may have been suspended since.
fn as_of_now(state: &State, mut seeded: Principal) -> Principal {
    if let Principal::Tenant {
        tenant, suspended, ..
    } = &mut seeded
    {
        *suspended = is_suspended(state, tenant);
    }
    seeded
}
