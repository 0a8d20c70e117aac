//! Claims for people who verified their address before the tenant joined by it (D-06).

use throughline_domain::{Ids, Timestamp, UserId};
use throughline_platform_identity::{
    ClaimState, NormalizedEmail, Profile, ReviewReason, claim_actor,
};

use super::merge::Act;
use super::resolve::policy;
use super::review;
use crate::people::StoredClaim;
use crate::state::TenantState;

/// The oldest account that verified an address holds it; whoever else did is asked about. Nobody is
/// joined.
pub(crate) fn back_fill(state: &mut TenantState, ids: &dyn Ids, now: Timestamp) {
    let policy = policy(state);
    let mut vouched: Vec<(Timestamp, UserId, NormalizedEmail, Timestamp)> = Vec::new();
    for known in state.people.identities.values() {
        let identity = &known.identity;
        let profile = Profile {
            display_name: None,
            email: identity.email.clone(),
            email_verified: identity.email_verified,
            shared: identity.shared,
        };
        if let Some(email) = policy.vouched(identity.id.kind, &profile) {
            vouched.push((
                identity.first_seen_at,
                known.account,
                email,
                identity.last_seen_at,
            ));
        }
    }
    vouched.sort();
    let actor = claim_actor();
    let act = Act {
        actor: &actor,
        ids,
        now,
    };
    for (_, account, email, last_confirmed_at) in vouched {
        let held = state
            .people
            .claim(&email)
            .zip(state.people.claimant(&email));
        let Some((claim, claimant)) = held else {
            let claim = StoredClaim {
                account,
                state: ClaimState::Live,
                last_confirmed_at,
            };
            state.people.claims.insert(email, claim);
            continue;
        };
        let root = state.people.root(account).unwrap_or(account);
        if claim.holder != root {
            let pair = (claimant, account);
            review::raise(&mut state.people, pair, ReviewReason::Collision, act);
        }
    }
}
