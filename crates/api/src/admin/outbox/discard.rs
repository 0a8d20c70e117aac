//! `DELETE /admin/tenants/{tenant}/outbox/{entry_id}`

use throughline_wire::OutboxEntryAnswer;

use crate::body::NoBody;
use crate::caller::Operator;
use crate::failure::Failure;
use crate::path::{PathEntry, PathTenant};

/// Throws a dead letter away.
pub(crate) async fn discard(
    operator: Operator,
    PathTenant(name): PathTenant,
    PathEntry(id): PathEntry,
    _: NoBody,
) -> Result<axum::Json<OutboxEntryAnswer>, Failure> {
    let entry = operator.outbox().discard(&name, id).await?;
    let entry = super::known(entry)?;
    tracing::info!(tenant.id = name.as_str(), "dead letter discarded");
    Ok(axum::Json(entry))
}
