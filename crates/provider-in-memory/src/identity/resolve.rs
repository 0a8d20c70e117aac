//! The user behind a channel's user.

use std::time::Duration;

use throughline_domain::{Actor, Ids, MergeId, Timestamp, UserId};
use throughline_platform_identity::{
    ChannelUser, ClaimEffect, ClaimPolicy, ClaimSource, ClaimState, FirstSight, Identity,
    IdentityError, MergeSource, Merged, NormalizedEmail, Profile, Resolved, claim_actor,
    first_sight, given_up, later_sight,
};

use super::merge::{self, Act};
use super::review;
use crate::people::{People, StoredClaim};
use crate::state::TenantState;

/// How stale `last_seen_at` may be (T-55).
const SEEN_WITHIN: Duration = Duration::from_mins(1);

pub(super) fn resolve(
    state: &mut TenantState,
    who: &ChannelUser,
    ids: &dyn Ids,
    now: Timestamp,
) -> Resolved {
    let actor: Actor = claim_actor();
    let act = Act {
        actor: &actor,
        ids,
        now,
    };
    let policy = policy(state);
    if let Some(known) = state.people.identities.get(&who.id) {
        let account = known.account;
        let root = state.people.root(account).unwrap_or(account);
        see_again(&mut state.people, who, (account, root), &policy, act);
        return Resolved {
            user_id: root,
            account_id: account,
            is_new: false,
        };
    }
    see_first(state, who, &policy, act)
}

/// For something said at `said_at`: never who was erased since.
pub(super) fn resolve_said(
    state: &mut TenantState,
    who: &ChannelUser,
    said_at: Timestamp,
    ids: &dyn Ids,
    now: Timestamp,
) -> Result<Resolved, IdentityError> {
    refuse_erased(state, who, said_at)?;
    Ok(resolve(state, who, ids, now))
}

/// For a message that came at `queued_at` and waited: never who was erased since, and nothing new
/// about somebody who is known.
pub(super) fn resolve_queued(
    state: &mut TenantState,
    who: &ChannelUser,
    queued_at: Timestamp,
    ids: &dyn Ids,
    now: Timestamp,
) -> Result<Resolved, IdentityError> {
    refuse_erased(state, who, queued_at)?;
    if let Some(known) = state.people.identities.get(&who.id) {
        return Ok(Resolved {
            user_id: state.people.root(known.account).unwrap_or(known.account),
            account_id: known.account,
            is_new: false,
        });
    }
    Ok(resolve(state, who, ids, now))
}

/// What they said up to their erasure is gone with them.
fn refuse_erased(
    state: &TenantState,
    who: &ChannelUser,
    said_at: Timestamp,
) -> Result<(), IdentityError> {
    let digest = who.id.digest(&state.tenant.id);
    let erased = state.people.erased_refs.get(&digest);
    if erased.is_some_and(|erased| erased.erased_at >= said_at) {
        return Err(IdentityError::Gone);
    }
    Ok(())
}

/// What the tenant says about addresses.
pub(super) fn policy(state: &TenantState) -> ClaimPolicy {
    let config = &state.tenant.config;
    ClaimPolicy {
        auto_merge: config.auto_merge_on_email,
        verified_kinds: config.verified_email_kinds.clone(),
        ttl: config.email_claim_ttl(),
    }
}

fn see_first(
    state: &mut TenantState,
    who: &ChannelUser,
    policy: &ClaimPolicy,
    act: Act<'_>,
) -> Resolved {
    let account = UserId::new(act.ids.ulid(act.now));
    let profile = Profile::of(who);
    let vouched = policy.vouched(who.id.kind, &profile);
    let claim = vouched.as_ref().and_then(|email| state.people.claim(email));
    let claimant = vouched
        .as_ref()
        .and_then(|email| state.people.claimant(email));
    let claimant = claimant.unwrap_or(account);
    let decision = first_sight(policy, &who.id, claim.as_ref(), act.now);
    let attached = matches!(decision, FirstSight::Attach(_));
    let source = if attached {
        ClaimSource::AutoEmail
    } else {
        ClaimSource::System
    };
    state
        .people
        .mint(account, identity(who, profile, source, act.now));
    let (effect, user_id) = match decision {
        FirstSight::NewUser => (ClaimEffect::Take, account),
        FirstSight::Attach(holder) => {
            attach(state, account, (claimant, holder), act);
            (ClaimEffect::Confirm, holder)
        }
        FirstSight::NewUserWithReview { reason, claim } => {
            review::raise(&mut state.people, (claimant, account), reason, act);
            (claim, account)
        }
    };
    if let Some(email) = vouched {
        apply(&mut state.people, email, effect, account, act.now);
    }
    Resolved {
        user_id,
        account_id: account,
        is_new: !attached,
    }
}

/// A merge like any other, of somebody who has said nothing yet. The link is to the account whose
/// address it was: should that one leave its survivor, the newcomer goes along.
fn attach(
    state: &mut TenantState,
    account: UserId,
    (claimant, holder): (UserId, UserId),
    act: Act<'_>,
) {
    state.people.put_under(account, holder);
    let merged = Merged {
        merge_id: MergeId::new(act.ids.ulid(act.now)),
        user_id: claimant,
        merged_identities: 1,
        moved_turns: 0,
    };
    merge::record(state, &merged, account, MergeSource::AutoEmail, act);
}

fn identity(
    who: &ChannelUser,
    profile: Profile,
    claim_source: ClaimSource,
    now: Timestamp,
) -> Identity {
    Identity {
        id: who.id.clone(),
        display_name: profile.display_name,
        email: profile.email,
        email_verified: profile.email_verified,
        shared: profile.shared,
        first_seen_at: now,
        last_seen_at: now,
        claim_source,
    }
}

fn see_again(
    people: &mut People,
    who: &ChannelUser,
    (account, root): (UserId, UserId),
    policy: &ClaimPolicy,
    act: Act<'_>,
) {
    let Some(known) = people.identities.get_mut(&who.id) else {
        return;
    };
    let stored = &mut known.identity;
    let before = Profile {
        display_name: stored.display_name.take(),
        email: stored.email.take(),
        email_verified: stored.email_verified,
        shared: stored.shared,
    };
    let after = before.after(who);
    stored.display_name.clone_from(&after.display_name);
    stored.email.clone_from(&after.email);
    stored.email_verified = after.email_verified;
    stored.shared = after.shared;
    let seen_again = act.now.since(stored.last_seen_at) >= SEEN_WITHIN;
    if seen_again {
        stored.last_seen_at = act.now;
    }
    if !policy.auto_merge || (before == after && !seen_again) {
        return;
    }
    if let Some(old) = given_up(&before, &after) {
        lapse(people, &old, root);
    }
    let Some(email) = policy.vouched(who.id.kind, &after) else {
        return;
    };
    let claim = people.claim(&email);
    let decision = later_sight(policy, root, claim.as_ref(), act.now);
    if let (Some(reason), Some(claimant)) = (decision.review, people.claimant(&email)) {
        review::raise(people, (claimant, account), reason, act);
    }
    apply(people, email, decision.claim, account, act.now);
}

fn lapse(people: &mut People, email: &NormalizedEmail, root: UserId) {
    let members = people.members(root);
    if let Some(claim) = people.claims.get_mut(email)
        && claim.state == ClaimState::Live
        && members.contains(&claim.account)
    {
        claim.state = ClaimState::Lapsed;
    }
}

fn apply(
    people: &mut People,
    email: NormalizedEmail,
    effect: ClaimEffect,
    account: UserId,
    now: Timestamp,
) {
    match effect {
        ClaimEffect::Leave => {}
        ClaimEffect::Take => {
            let claim = StoredClaim {
                account,
                state: ClaimState::Live,
                last_confirmed_at: now,
            };
            people.claims.insert(email, claim);
        }
        ClaimEffect::Confirm => {
            if let Some(claim) = people.claims.get_mut(&email) {
                claim.state = ClaimState::Live;
                claim.last_confirmed_at = now;
            }
        }
        ClaimEffect::Revoke => {
            if let Some(claim) = people.claims.get_mut(&email) {
                claim.state = ClaimState::Revoked;
            }
        }
    }
}
