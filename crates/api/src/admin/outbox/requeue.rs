//! `POST /admin/tenants/{tenant}/outbox/{entry_id}/requeue`

use throughline_wire::OutboxEntryAnswer;

use crate::body::NoBody;
use crate::caller::Operator;
use crate::failure::Failure;
use crate::path::{PathEntry, PathTenant};

/// Puts a dead letter back in line, due at once.
pub(crate) async fn requeue(
    operator: Operator,
    PathTenant(name): PathTenant,
    PathEntry(id): PathEntry,
    _: NoBody,
) -> Result<axum::Json<OutboxEntryAnswer>, Failure> {
    let entry = operator.outbox().requeue(&name, id).await?;
    let entry = super::known(entry)?;
    tracing::info!(tenant.id = name.as_str(), "dead letter requeued");
    Ok(axum::Json(entry))
}
