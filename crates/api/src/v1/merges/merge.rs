//! `POST /v1/tenants/{tenant}/merges`

use axum::Extension;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use throughline_wire::{MergeAnswer, MergeBody, ProposedAnswer};

use crate::body::SourcedJson;
use crate::caller::{Operator, Tenant};
use crate::failure::Failure;

/// An operator merges: 201. A key of the tenant asks an operator to: 202 with the review.
pub(crate) async fn merge(
    tenant: Tenant,
    operator: Option<Extension<Operator>>,
    SourcedJson(body): SourcedJson<MergeBody>,
) -> Result<Response, Failure> {
    let source = body.source()?;
    let (primary, secondary) = (body.primary_user_id, body.secondary_user_id);
    if let Some(Extension(operator)) = operator {
        let merged = operator
            .merge(tenant.id(), (primary, secondary), source)
            .await?;
        tracing::info!(
            tenant.id = tenant.id().as_str(),
            merge.id = %merged.merge_id,
            user.id = %merged.user_id,
            "two users merged"
        );
        return Ok((StatusCode::CREATED, axum::Json(MergeAnswer::from(merged))).into_response());
    }
    let key = tenant
        .key()
        .ok_or_else(|| Failure::internal("neither an operator nor a key calls"))?;
    let review_id = tenant.propose_merge(primary, secondary, key).await?;
    Ok((
        StatusCode::ACCEPTED,
        axum::Json(ProposedAnswer { review_id }),
    )
        .into_response())
}
