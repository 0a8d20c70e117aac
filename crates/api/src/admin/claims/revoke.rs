//! `POST /admin/tenants/{tenant}/claims/revoke` (D-07 c)

use throughline_wire::{ClaimBody, RevokedClaimAnswer};

use crate::body::Json;
use crate::caller::Operator;
use crate::failure::Failure;
use crate::path::PathTenant;

/// Takes an address out of joining: it joins nobody from now on, whoever verifies it. The address comes
/// in the body, where no log of paths sees it (T-66).
pub(crate) async fn revoke(
    operator: Operator,
    PathTenant(name): PathTenant,
    Json(body): Json<ClaimBody>,
) -> Result<axum::Json<RevokedClaimAnswer>, Failure> {
    let email = body.check()?;
    let identity = operator.identity();
    let revoked = identity
        .revoke_claim(&name, &email, operator.actor())
        .await?;
    tracing::info!(tenant.id = name.as_str(), "claim revoked");
    Ok(axum::Json(revoked.into()))
}
