//! `POST /v1/tenants/{tenant}/identities/resolve`

use axum::extract::State;
use throughline_wire::{ResolveAnswer, ResolveBody};

use crate::body::Json;
use crate::caller::Tenant;
use crate::failure::Failure;
use crate::shared::Shared;

/// The user behind a channel's user; a first sight makes one, unless what they said is of before their
/// erasure.
pub(crate) async fn resolve(
    tenant: Tenant,
    State(shared): State<Shared>,
    Json(body): Json<ResolveBody>,
) -> Result<axum::Json<ResolveAnswer>, Failure> {
    let (user, said_at) = body.check()?;
    let result = tenant.resolve(&user, said_at).await;
    shared.counters.resolved(&result);
    let resolved = result?;
    Ok(axum::Json(ResolveAnswer {
        user_id: resolved.user_id,
        account_id: resolved.account_id,
        is_new: resolved.is_new,
    }))
}
