//! An operator takes an address out of joining (D-07 c).

use throughline_conversation_memory::{AuditDetail, RevokeClaim};
use throughline_platform_identity::{ClaimState, IdentityError, NormalizedEmail, RevokedClaim};

use super::merge::Act;
use crate::state::TenantState;

pub(super) fn revoke_claim(
    state: &mut TenantState,
    email: &NormalizedEmail,
    act: Act<'_>,
) -> Result<RevokedClaim, IdentityError> {
    let claim = state.people.claim(email);
    let holder = claim.ok_or(IdentityError::UnknownClaim)?.holder;
    let stored = state.people.claims.get_mut(email);
    let stored = stored.ok_or(IdentityError::UnknownClaim)?;
    let was = stored.state;
    if was == ClaimState::Revoked {
        return Err(IdentityError::NoChange);
    }
    stored.state = ClaimState::Revoked;
    let detail = AuditDetail::RevokeClaim(RevokeClaim {
        previous_state: was.as_str().to_owned(),
    });
    let about = (Some(holder), None);
    state
        .trail
        .write(act.ids, act.now, act.actor, about, detail);
    Ok(RevokedClaim {
        user_id: holder,
        was,
    })
}
