//! `GET /v1/tenants/{tenant}/merges?user_id=`

use throughline_wire::{MergesAnswer, Place};

use crate::caller::{Operator, Tenant};
use crate::failure::Failure;
use crate::query::Query;

/// The merges that made a person what they are, the automatic and the undone ones too.
pub(crate) async fn list(
    operator: Operator,
    tenant: Tenant,
    query: Query,
) -> Result<axum::Json<MergesAnswer>, Failure> {
    let user = query.required("user_id")?.parse().map_err(|_| {
        Place::Parameter("user_id").invalid("user_id must be a ULID of 26 characters")
    })?;
    let merges = operator.merges(tenant.id(), user).await?;
    Ok(axum::Json(merges.into()))
}
