//! `DELETE /admin/operators/keys/{key_id}`

use throughline_wire::KeyAnswer;

use crate::body::NoBody;
use crate::caller::Operator;
use crate::failure::Failure;
use crate::path::PathKey;

/// Revokes an operator's key, the caller's own too.
pub(crate) async fn revoke(
    operator: Operator,
    PathKey(key): PathKey,
    _: NoBody,
) -> Result<axum::Json<KeyAnswer>, Failure> {
    let revoked = operator.tenancy().revoke_operator_key(key).await;
    // Even when the answer was lost: the key may be revoked.
    operator.keys_changed();
    let record = revoked?;
    tracing::info!("operator key revoked");
    Ok(axum::Json(record.into()))
}
