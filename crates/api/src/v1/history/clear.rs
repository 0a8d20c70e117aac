//! `DELETE /v1/tenants/{tenant}/history?channel_kind=&channel_scope=`

use axum::http::StatusCode;

use crate::body::NoBody;
use crate::caller::Tenant;
use crate::failure::Failure;
use crate::query::Query;

/// Later reads of this scope start after the turns stored by now. Nothing is deleted.
pub(crate) async fn clear(tenant: Tenant, query: Query, _: NoBody) -> Result<StatusCode, Failure> {
    tenant.clear(&query.scope()?).await?;
    Ok(StatusCode::NO_CONTENT)
}
