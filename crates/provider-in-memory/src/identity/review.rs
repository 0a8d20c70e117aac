//! Questions to an operator.

use throughline_domain::{Actor, ReviewId, UserId};
use throughline_platform_identity::{
    Decision, DecisionReason, IdentityError, MergeSource, Review, ReviewQuery, ReviewReason,
    ReviewState, Verdict,
};

use super::merge::{self, Act};
use crate::people::People;
use crate::state::TenantState;

/// Raises a question by an address, once for good: a declined one is not asked again. It names accounts
/// and never survivors, so that it is about the same people when merges come or go meanwhile.
pub(super) fn raise(
    people: &mut People,
    (primary, secondary): (UserId, UserId),
    reason: ReviewReason,
    act: Act<'_>,
) {
    let asked = people
        .reviews
        .values()
        .any(|review| is_about(review, primary, secondary, reason));
    if !asked {
        open(people, (primary, secondary), reason, None, act);
    }
}

pub(super) fn propose(
    people: &mut People,
    primary: UserId,
    secondary: UserId,
    act: Act<'_>,
) -> Result<ReviewId, IdentityError> {
    let root = |id| people.root(id).ok_or(IdentityError::UnknownUser(id));
    if root(primary)? == root(secondary)? {
        return Err(IdentityError::NoChange);
    }
    let standing = people.reviews.values().find(|review| {
        review.state == ReviewState::Open
            && is_about(review, primary, secondary, ReviewReason::Proposal)
    });
    if let Some(review) = standing {
        return Ok(review.id);
    }
    let by = Some(act.actor.clone());
    Ok(open(
        people,
        (primary, secondary),
        ReviewReason::Proposal,
        by,
        act,
    ))
}

fn is_about(review: &Review, primary: UserId, secondary: UserId, reason: ReviewReason) -> bool {
    (
        review.primary_user_id,
        review.secondary_user_id,
        review.reason,
    ) == (primary, secondary, reason)
}

fn open(
    people: &mut People,
    (primary_user_id, secondary_user_id): (UserId, UserId),
    reason: ReviewReason,
    proposed_by: Option<Actor>,
    act: Act<'_>,
) -> ReviewId {
    let id = ReviewId::new(act.ids.ulid(act.now));
    let review = Review {
        id,
        reason,
        state: ReviewState::Open,
        primary_user_id,
        secondary_user_id,
        proposed_by,
        created_at: act.now,
        decision: None,
    };
    people.reviews.insert(id, review);
    id
}

pub(super) fn list(people: &People, query: &ReviewQuery) -> Vec<Review> {
    people
        .reviews
        .values()
        .filter(|review| query.after.is_none_or(|after| review.id > after))
        .filter(|review| query.state.is_none_or(|state| review.state == state))
        .take(usize::try_from(query.limit).unwrap_or(usize::MAX))
        .cloned()
        .collect()
}

pub(super) fn decide(
    state: &mut TenantState,
    id: ReviewId,
    verdict: Verdict,
    reason: &DecisionReason,
    act: Act<'_>,
) -> Result<Review, IdentityError> {
    let review = state
        .people
        .reviews
        .get(&id)
        .ok_or(IdentityError::UnknownReview(id))?;
    if review.decision.is_some() {
        return Err(IdentityError::AlreadyDecided(id));
    }
    let (primary, secondary) = (review.primary_user_id, review.secondary_user_id);
    let merge_id = match verdict {
        Verdict::Decline => None,
        Verdict::Accept => {
            match merge::merge(state, primary, secondary, MergeSource::Manual, act) {
                Ok(merged) => Some(merged.merge_id),
                Err(IdentityError::NoChange) => None,
                Err(error) => return Err(error),
            }
        }
    };
    let review = state
        .people
        .reviews
        .get_mut(&id)
        .ok_or(IdentityError::UnknownReview(id))?;
    review.state = match verdict {
        Verdict::Accept => ReviewState::Accepted,
        Verdict::Decline => ReviewState::Declined,
    };
    review.decision = Some(Decision {
        at: act.now,
        actor: act.actor.clone(),
        reason: reason.clone(),
        merge_id,
    });
    Ok(review.clone())
}
