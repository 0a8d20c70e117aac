//! `POST /admin/tenants/{tenant}/keys`

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use throughline_wire::{MintKeyBody, MintedKeyAnswer};

use crate::body::Json;
use crate::caller::Operator;
use crate::failure::Failure;
use crate::path::PathTenant;

/// Makes a key of the tenant and shows it, this once.
pub(crate) async fn mint(
    operator: Operator,
    PathTenant(name): PathTenant,
    Json(body): Json<MintKeyBody>,
) -> Result<Response, Failure> {
    let minted = operator.tenancy().mint_key(&name, body.check()?).await?;
    tracing::info!(tenant.id = name.as_str(), "key minted");
    Ok((
        StatusCode::CREATED,
        axum::Json(MintedKeyAnswer::from(minted)),
    )
        .into_response())
}
