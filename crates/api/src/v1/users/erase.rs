//! `DELETE /v1/tenants/{tenant}/users/{user_id}?dry_run=`

use axum::extract::State;
use throughline_erasure::Mode;
use throughline_wire::{Place, Problem, ReceiptAnswer};

use crate::body::NoBody;
use crate::caller::{Operator, Tenant};
use crate::failure::Failure;
use crate::path::PathUser;
use crate::query::Query;
use crate::shared::Shared;

/// Forgets the person behind the id everywhere, or with `dry_run=true` only counts.
pub(crate) async fn erase(
    operator: Operator,
    tenant: Tenant,
    PathUser(user): PathUser,
    State(shared): State<Shared>,
    query: Query,
    _: NoBody,
) -> Result<axum::Json<ReceiptAnswer>, Failure> {
    let mode = mode(&query)?;
    let receipt = operator.erase(tenant.id(), user, mode).await;
    // Even when the answer was lost.
    shared.pages.forget(tenant.id());
    let receipt = receipt?;
    if mode == Mode::Erase {
        // Without the user's id: the log would keep what was just forgotten.
        tracing::info!(
            tenant.id = tenant.id().as_str(),
            turns = receipt.counts.deleted_turns,
            "user erased"
        );
    }
    Ok(axum::Json(ReceiptAnswer::new(receipt, mode)))
}

/// Anything but a plain yes or no is refused, and so is another name: a mistyped rehearsal must not
/// erase.
fn mode(query: &Query) -> Result<Mode, Problem> {
    query.only(&["dry_run"])?;
    match query.text("dry_run")?.as_deref() {
        None | Some("false") => Ok(Mode::Erase),
        Some("true") => Ok(Mode::Rehearse),
        Some(_) => Err(Place::Parameter("dry_run").invalid("dry_run must be true or false")),
    }
}
