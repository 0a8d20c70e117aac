//! `GET /admin/operators/keys`

use throughline_wire::KeysAnswer;

use crate::caller::Operator;
use crate::failure::Failure;

/// All operators' keys, the revoked ones too; never a secret.
pub(crate) async fn list(operator: Operator) -> Result<axum::Json<KeysAnswer>, Failure> {
    let keys = operator.tenancy().operator_keys().await?;
    Ok(axum::Json(KeysAnswer {
        keys: keys.into_iter().map(Into::into).collect(),
    }))
}
