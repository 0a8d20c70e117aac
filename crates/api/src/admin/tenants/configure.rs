//! `PUT` and `PATCH /admin/tenants/{tenant}`

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use serde_json::{Map, Value};
use throughline_domain::TenantId;
use throughline_tenancy::{Tenancy, TenancyError, Tenant, TenantStatus};
use throughline_wire::{ConfigureTenantBody, Place, Problem, merge_config};

use super::revision;
use crate::body::Json;
use crate::caller::Operator;
use crate::failure::Failure;
use crate::path::PathTenant;
use crate::shared::Shared;

/// How often a change without an expected revision is repeated when another came in between.
const ATTEMPTS: u32 = 5;

/// Sets the given values and leaves the others; suspends or resumes. The configuration goes first: when
/// its revision is stale, the status stays too.
pub(crate) async fn change(
    operator: Operator,
    PathTenant(name): PathTenant,
    headers: HeaderMap,
    Json(body): Json<ConfigureTenantBody>,
) -> Result<Response, Failure> {
    let expected = revision::expected(&headers, body.config_revision)?;
    let status = status(body.status.as_deref())?;
    if body.config.is_none() && status.is_none() {
        let detail = "there is nothing to change; send config, status or both";
        return Err(Place::Body("").invalid(detail).into());
    }
    let tenant = change_config(operator.tenancy(), &name, body.config, expected).await?;
    Ok(revision::answer(
        set_status(&operator, tenant, status).await?,
    ))
}

/// Sets the given values and puts the others back to what a new tenant has; suspends or resumes.
pub(crate) async fn replace(
    State(shared): State<Shared>,
    operator: Operator,
    PathTenant(name): PathTenant,
    headers: HeaderMap,
    Json(body): Json<ConfigureTenantBody>,
) -> Result<Response, Failure> {
    let expected = revision::expected(&headers, body.config_revision)?;
    let status = status(body.status.as_deref())?;
    let Some(changes) = body.config else {
        let detail = "put replaces the configuration; send config, or use patch";
        return Err(Place::Body("/config").invalid(detail).into());
    };
    let config = merge_config(&shared.new_tenants, &changes)?;
    let tenant = operator
        .tenancy()
        .configure(&name, config, expected)
        .await?;
    tracing::info!(tenant.id = name.as_str(), "tenant configured");
    Ok(revision::answer(
        set_status(&operator, tenant, status).await?,
    ))
}

fn status(word: Option<&str>) -> Result<Option<TenantStatus>, Problem> {
    let Some(word) = word else {
        return Ok(None);
    };
    let status = TenantStatus::parse(word);
    let detail = "status must be active or suspended";
    status
        .map(Some)
        .ok_or_else(|| Place::Body("/status").invalid(detail))
}

async fn change_config(
    tenancy: &dyn Tenancy,
    name: &TenantId,
    changes: Option<Map<String, Value>>,
    expected: Option<u64>,
) -> Result<Tenant, Failure> {
    let mut attempts = 0;
    loop {
        attempts += 1;
        let current = tenancy.tenant(name).await?;
        let current = current.ok_or_else(|| TenancyError::UnknownTenant(name.clone()))?;
        let in_force = current.config_revision;
        let Some(changes) = &changes else {
            return match expected {
                Some(expected) if expected != in_force => {
                    Err(TenancyError::StaleRevision { current: in_force }.into())
                }
                _ => Ok(current),
            };
        };
        let config = merge_config(&current.config, changes)?;
        let revision = Some(expected.unwrap_or(in_force));
        match tenancy.configure(name, config, revision).await {
            Err(TenancyError::StaleRevision { .. })
                if expected.is_none() && attempts < ATTEMPTS => {}
            result => {
                let tenant = result?;
                tracing::info!(tenant.id = name.as_str(), "tenant configured");
                return Ok(tenant);
            }
        }
    }
}

async fn set_status(
    operator: &Operator,
    tenant: Tenant,
    status: Option<TenantStatus>,
) -> Result<Tenant, Failure> {
    let Some(status) = status.filter(|status| *status != tenant.status) else {
        return Ok(tenant);
    };
    let changed = operator.tenancy().set_status(&tenant.id, status).await;
    // Even when the answer was lost: the change may have been made.
    operator.keys_changed();
    let changed = changed?;
    let (id, word) = (changed.id.as_str(), status.as_str());
    tracing::info!(tenant.id = id, tenant.status = word, "tenant status set");
    Ok(changed)
}
