//! `GET /admin/tenants/{tenant}`

use axum::response::Response;
use throughline_tenancy::TenancyError;

use super::revision;
use crate::caller::Operator;
use crate::failure::Failure;
use crate::path::PathTenant;

/// The tenant, its rules and the revision they are at.
pub(crate) async fn read(
    operator: Operator,
    PathTenant(name): PathTenant,
) -> Result<Response, Failure> {
    let tenant = operator.tenancy().tenant(&name).await?;
    let tenant = tenant.ok_or(TenancyError::UnknownTenant(name))?;
    Ok(revision::answer(tenant))
}
