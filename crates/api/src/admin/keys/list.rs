//! `GET /admin/tenants/{tenant}/keys`

use throughline_wire::KeysAnswer;

use crate::caller::Operator;
use crate::failure::Failure;
use crate::path::PathTenant;

/// The tenant's keys, the revoked ones too; never a secret.
pub(crate) async fn list(
    operator: Operator,
    PathTenant(name): PathTenant,
) -> Result<axum::Json<KeysAnswer>, Failure> {
    let keys = operator.tenancy().keys(&name).await?;
    Ok(axum::Json(KeysAnswer {
        keys: keys.into_iter().map(Into::into).collect(),
    }))
}
