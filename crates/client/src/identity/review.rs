//! Questions to an operator.

use http::Method;
use throughline_domain::{Actor, ReviewId, TenantId};
use throughline_platform_identity::{
    Decision, DecisionReason, IdentityError, Review, ReviewQuery, ReviewReason, ReviewState,
    Verdict,
};
use throughline_wire::{DecisionBody, ReviewAnswer, ReviewsAnswer, paths};

use super::by_operator;
use super::error::{Subject, of};
use crate::ClientError;
use crate::answer::Answer;
use crate::call::{Call, Speaker};
use crate::client::Client;
use crate::query::Query;
use crate::retry::Failed;

/// The most reviews that one page has.
const PAGE: u32 = 100;

/// As many pages as the limit needs, within one deadline.
pub(super) async fn list(
    client: &Client,
    tenant: &TenantId,
    query: &ReviewQuery,
) -> Result<Vec<Review>, IdentityError> {
    let by = client.deadline();
    let read = async {
        let mut reviews = Vec::new();
        let mut cursor = query.after.map(|after| after.to_string());
        loop {
            let read = u32::try_from(reviews.len()).unwrap_or(u32::MAX);
            let left = query.limit.saturating_sub(read);
            if left == 0 {
                return Ok(reviews);
            }
            let path = Query::of(paths::fill(paths::ADMIN_REVIEWS, tenant, &[]))
                .with("limit", &left.min(PAGE).to_string())
                .with_some("state", query.state.map(ReviewState::as_str))
                .with_some("cursor", cursor.as_deref());
            let call = Call::get(tenant, path.path()).spoken_by(Speaker::Operator);
            let answer = client.send(&call, by).await?;
            let page: ReviewsAnswer = answer.read()?;
            for body in page.reviews {
                reviews.push(review(&answer, body)?);
            }
            match page.next_cursor {
                Some(next) => cursor = Some(next),
                None => return Ok(reviews),
            }
        }
    };
    let read: Result<_, Failed> = read.await;
    read.map_err(|failed| of(failed, tenant, Subject::None))
}

pub(super) async fn decide(
    client: &Client,
    tenant: &TenantId,
    id: ReviewId,
    verdict: Verdict,
    reason: &DecisionReason,
) -> Result<Review, IdentityError> {
    let path = match verdict {
        Verdict::Accept => paths::ADMIN_REVIEW_ACCEPT,
        Verdict::Decline => paths::ADMIN_REVIEW_DECLINE,
    };
    let path = paths::fill(path, tenant, &[("review_id", &id.to_string())]);
    let body = DecisionBody {
        reason: reason.as_str().to_owned(),
    };
    let call = by_operator(tenant, Method::POST, path).carrying(&body);
    let decided = async {
        let answer = client.send(&call, client.deadline()).await?;
        let body = answer.read()?;
        review(&answer, body).map_err(Failed::from)
    };
    decided
        .await
        .map_err(|failed| of(failed, tenant, Subject::Review(id)))
}

fn review(answer: &Answer, body: ReviewAnswer) -> Result<Review, ClientError> {
    let word = || answer.unreadable("reason or state is not known");
    let actor = |name: String| Actor::parse(&name).map_err(|fault| answer.unreadable(fault));
    let decision = match (body.decided_at, body.decided_by, body.decision_reason) {
        (Some(at), Some(by), Some(reason)) => Some(Decision {
            at,
            actor: actor(by)?,
            reason: DecisionReason::parse(&reason).map_err(|fault| answer.unreadable(fault))?,
            merge_id: body.merge_id,
        }),
        (None, None, None) => None,
        _ => return Err(answer.unreadable("the decision is not whole")),
    };
    Ok(Review {
        id: body.review_id,
        reason: ReviewReason::parse(&body.reason).ok_or_else(word)?,
        state: ReviewState::parse(&body.state).ok_or_else(word)?,
        primary_user_id: body.primary_user_id,
        secondary_user_id: body.secondary_user_id,
        proposed_by: body.proposed_by.map(actor).transpose()?,
        created_at: body.created_at,
        decision,
    })
}
