//! Whether a verified e-mail address makes two channel users one person (D-06, D-07).
//!
//! A claim says: this address belongs to that person, and it was confirmed last then. The functions
//! here only decide; a store reads the claim under its lock, asks, and does what the answer says.

use std::time::Duration;

use throughline_domain::{PlatformKind, Timestamp, UserId};

use crate::{NormalizedEmail, PlatformUserId, Profile, ReviewReason};

/// What a tenant says about addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimPolicy {
    /// Whether an address joins anybody at all.
    pub auto_merge: bool,
    /// Channels whose word counts.
    pub verified_kinds: Vec<PlatformKind>,
    /// How long an unconfirmed claim lives.
    pub ttl: Duration,
}

impl ClaimPolicy {
    /// The address that a channel user with this profile owns beyond doubt; `None` when the tenant
    /// does not merge, the channel's word does not count, it did not vouch, or it is a group.
    pub fn vouched(&self, kind: PlatformKind, profile: &Profile) -> Option<NormalizedEmail> {
        let counts = self.auto_merge && self.verified_kinds.contains(&kind);
        (counts && profile.email_verified && !profile.shared)
            .then(|| profile.normal_email())
            .flatten()
    }
}

/// Whether a claim joins a newcomer to its holder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimState {
    /// It does, while it is fresh.
    Live,
    /// The holder gave the address up; the next one to verify it takes it over.
    Lapsed,
    /// Two accounts of one channel hold it: it joins nobody until an operator decides.
    Revoked,
}

impl ClaimState {
    /// The word in SQL.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Lapsed => "lapsed",
            Self::Revoked => "revoked",
        }
    }

    /// Reads the word back.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Live, Self::Lapsed, Self::Revoked]
            .into_iter()
            .find(|state| state.as_str() == word)
    }
}

/// What an operator took out of joining.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RevokedClaim {
    /// Who held the address: the survivor.
    pub user_id: UserId,
    /// What the claim was.
    pub was: ClaimState,
}

/// A stored claim with what must be known of its holder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The person: the survivor, when the claiming account was merged.
    pub holder: UserId,
    /// As stored.
    pub state: ClaimState,
    /// When the address was last vouched for, or its account last seen without saying otherwise.
    pub last_confirmed_at: Timestamp,
    /// Every channel user of the holder.
    pub holder_ids: Vec<PlatformUserId>,
}

impl Claim {
    /// The state in force: a live claim lapses by itself (D-07 b).
    fn state_at(&self, now: Timestamp, ttl: Duration) -> ClaimState {
        match self.state {
            ClaimState::Live if now.since(self.last_confirmed_at) > ttl => ClaimState::Lapsed,
            state => state,
        }
    }
}

/// Which person a channel user that was never seen before is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstSight {
    /// Somebody new; the address, if they vouch for one, is theirs.
    NewUser,
    /// The holder of the address.
    Attach(UserId),
    /// Somebody new, and an operator is asked whether they are who holds the claim.
    NewUserWithReview {
        /// Why it is not certain.
        reason: ReviewReason,
        /// What becomes of the claim.
        claim: ClaimEffect,
    },
}

/// What becomes of the claim on an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimEffect {
    /// Nothing.
    Leave,
    /// It is confirmed as its holder's.
    Confirm,
    /// It becomes the seen one's, live.
    Take,
    /// It joins nobody until an operator decides.
    Revoke,
}

/// Decides a first sight. `claim` is the stored claim on the address the newcomer vouches for; it is
/// not asked for when they vouch for none.
pub fn first_sight(
    policy: &ClaimPolicy,
    newcomer: &PlatformUserId,
    claim: Option<&Claim>,
    now: Timestamp,
) -> FirstSight {
    let Some(claim) = claim else {
        return FirstSight::NewUser;
    };
    let review = |reason, effect| FirstSight::NewUserWithReview {
        reason,
        claim: effect,
    };
    match claim.state_at(now, policy.ttl) {
        ClaimState::Lapsed => review(ReviewReason::LapsedClaim, ClaimEffect::Take),
        ClaimState::Revoked => review(ReviewReason::ContestedClaim, ClaimEffect::Leave),
        // Two accounts of one channel with one address: most likely it was given to somebody else.
        // Neither side is joined by it any more, or the wrong one could be next (failures.md 18).
        ClaimState::Live if holds_another(claim, newcomer) => {
            review(ReviewReason::SameKind, ClaimEffect::Revoke)
        }
        ClaimState::Live => FirstSight::Attach(claim.holder),
    }
}

fn holds_another(claim: &Claim, newcomer: &PlatformUserId) -> bool {
    claim
        .holder_ids
        .iter()
        .any(|id| id.kind == newcomer.kind && id != newcomer)
}

/// What a later sighting means for the address now vouched for. The person never changes by it
/// at most an operator is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaterSight {
    /// What becomes of the claim on that address.
    pub claim: ClaimEffect,
    /// Why an operator is asked whether the one who was seen is who holds the claim, if one is.
    pub review: Option<ReviewReason>,
}

/// Decides a later sighting of a channel user of `person`, who vouches for the claimed address.
pub fn later_sight(
    policy: &ClaimPolicy,
    person: UserId,
    claim: Option<&Claim>,
    now: Timestamp,
) -> LaterSight {
    let only = |claim| LaterSight {
        claim,
        review: None,
    };
    let Some(claim) = claim else {
        return only(ClaimEffect::Take);
    };
    let state = claim.state_at(now, policy.ttl);
    if claim.holder == person {
        return only(match state {
            ClaimState::Revoked => ClaimEffect::Leave,
            ClaimState::Live | ClaimState::Lapsed => ClaimEffect::Confirm,
        });
    }
    let (effect, reason) = match state {
        ClaimState::Live => (ClaimEffect::Leave, ReviewReason::Collision),
        ClaimState::Lapsed => (ClaimEffect::Take, ReviewReason::LapsedClaim),
        ClaimState::Revoked => (ClaimEffect::Leave, ReviewReason::ContestedClaim),
    };
    LaterSight {
        claim: effect,
        review: Some(reason),
    }
}

/// The address a known channel user gave up by this sighting, if any: they report another one, or
/// the same one no longer verified (D-07 a). The store lapses the claim if their person holds it.
pub fn given_up(before: &Profile, after: &Profile) -> Option<NormalizedEmail> {
    let old = before.normal_email()?;
    let kept = after.email_verified && !after.shared && after.normal_email().as_ref() == Some(&old);
    (before.email_verified && !kept).then_some(old)
}

#[cfg(test)]
mod tests;
