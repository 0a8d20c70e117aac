//! `POST /admin/tenants`

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use throughline_domain::TenantId;
use throughline_tenancy::TenantConfig;
use throughline_wire::{CreateTenantBody, Place, TenantAnswer, merge_config};

use crate::body::Json;
use crate::caller::Operator;
use crate::failure::Failure;

/// Makes a tenant, active, with the defaults but for what `config` says.
pub(crate) async fn create(
    operator: Operator,
    Json(body): Json<CreateTenantBody>,
) -> Result<Response, Failure> {
    let name = TenantId::parse(&body.tenant)
        .map_err(|fault| Place::Body("/tenant").invalid(fault.to_string()))?;
    let config = merge_config(&TenantConfig::default(), &body.config.unwrap_or_default())?;
    let tenant = operator.tenancy().create_tenant(&name, config).await?;
    tracing::info!(tenant.id = name.as_str(), "tenant created");
    Ok((StatusCode::CREATED, axum::Json(TenantAnswer::from(tenant))).into_response())
}
