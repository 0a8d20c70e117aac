//! `POST /admin/tenants`

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use throughline_domain::TenantId;
use throughline_wire::{CreateTenantBody, Place, TenantAnswer, merge_config};

use crate::body::Json;
use crate::caller::Operator;
use crate::failure::Failure;
use crate::shared::Shared;

/// Makes a tenant, active, with the defaults but for what `config` says.
pub(crate) async fn create(
    State(shared): State<Shared>,
    operator: Operator,
    Json(body): Json<CreateTenantBody>,
) -> Result<Response, Failure> {
    let name = TenantId::parse(&body.tenant)
        .map_err(|fault| Place::Body("/tenant").invalid(fault.to_string()))?;
    let config = merge_config(&shared.new_tenants, &body.config.unwrap_or_default())?;
    let tenant = operator.tenancy().create_tenant(&name, config).await?;
    tracing::info!(tenant.id = name.as_str(), "tenant created");
    Ok((StatusCode::CREATED, axum::Json(TenantAnswer::from(tenant))).into_response())
}
