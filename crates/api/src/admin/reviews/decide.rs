//! `POST /admin/tenants/{tenant}/reviews/{review_id}/accept` and `…/decline`

use throughline_domain::{ReviewId, TenantId};
use throughline_platform_identity::Verdict;
use throughline_wire::{DecisionBody, ReviewAnswer};

use crate::body::Json;
use crate::caller::Operator;
use crate::failure::Failure;
use crate::path::{PathReview, PathTenant};

/// They are one person: merges them.
pub(crate) async fn accept(
    operator: Operator,
    PathTenant(name): PathTenant,
    PathReview(review): PathReview,
    Json(body): Json<DecisionBody>,
) -> Result<axum::Json<ReviewAnswer>, Failure> {
    decide(&operator, &name, review, Verdict::Accept, &body).await
}

/// They are two people: leaves them.
pub(crate) async fn decline(
    operator: Operator,
    PathTenant(name): PathTenant,
    PathReview(review): PathReview,
    Json(body): Json<DecisionBody>,
) -> Result<axum::Json<ReviewAnswer>, Failure> {
    decide(&operator, &name, review, Verdict::Decline, &body).await
}

async fn decide(
    operator: &Operator,
    tenant: &TenantId,
    review: ReviewId,
    verdict: Verdict,
    body: &DecisionBody,
) -> Result<axum::Json<ReviewAnswer>, Failure> {
    let reason = body.check()?;
    let identity = operator.identity();
    let decided = identity
        .decide_review(tenant, review, verdict, &reason, operator.actor())
        .await?;
    Ok(axum::Json(decided.into()))
}
