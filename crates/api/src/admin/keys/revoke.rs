//! `DELETE /admin/tenants/{tenant}/keys/{key_id}`

use throughline_wire::KeyAnswer;

use crate::body::NoBody;
use crate::caller::Operator;
use crate::failure::Failure;
use crate::path::{PathKey, PathTenant};

/// Revokes the key. This process refuses it at once, another within the five seconds of its cache.
pub(crate) async fn revoke(
    operator: Operator,
    PathTenant(name): PathTenant,
    PathKey(key): PathKey,
    _: NoBody,
) -> Result<axum::Json<KeyAnswer>, Failure> {
    let revoked = operator.tenancy().revoke_key(&name, key).await;
    // Even when the answer was lost: the key may be revoked.
    operator.keys_changed();
    let record = revoked?;
    tracing::info!(tenant.id = name.as_str(), "key revoked");
    Ok(axum::Json(record.into()))
}
