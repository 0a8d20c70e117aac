//! `DELETE /v1/tenants/{tenant}/merges/{merge_id}` (D-16)

use throughline_wire::UndoneAnswer;

use crate::body::NoBody;
use crate::caller::{Operator, Tenant};
use crate::failure::Failure;
use crate::path::PathMerge;

/// Both people as they were; turns that came since go by the account they came through.
pub(crate) async fn undo(
    operator: Operator,
    tenant: Tenant,
    PathMerge(merge): PathMerge,
    _: NoBody,
) -> Result<axum::Json<UndoneAnswer>, Failure> {
    let undone = operator.undo_merge(tenant.id(), merge).await?;
    tracing::info!(tenant.id = tenant.id().as_str(), merge.id = %merge, "merge undone");
    Ok(axum::Json(undone.into()))
}
