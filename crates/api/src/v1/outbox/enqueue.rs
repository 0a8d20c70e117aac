//! `POST /v1/tenants/{tenant}/outbox`

use axum::extract::State;
use axum::http::StatusCode;
use throughline_wire::{AppendBody, QueuedAnswer};

use crate::body::Json;
use crate::caller::Tenant;
use crate::failure::Failure;
use crate::shared::Shared;
use crate::v1::turns::{minted_key, queue};

/// Queues an append without trying the store first: 202 when it is durably queued, for the first time or
/// again.
pub(crate) async fn enqueue(
    tenant: Tenant,
    State(shared): State<Shared>,
    body: Result<Json<AppendBody>, Failure>,
) -> Result<(StatusCode, axum::Json<QueuedAnswer>), Failure> {
    let arrived = tenant.clock().now();
    let Json(body) = body.inspect_err(|_| shared.counters.append_refused())?;
    let checked = body
        .check(tenant.id(), || minted_key(&tenant))
        .inspect_err(|_| shared.counters.append_refused())?;
    let author = queue::author(&tenant, &checked.author);
    let answer = queue::keep(&tenant, checked, author, arrived).await?;
    let answer = answer.at_epoch(tenant.epoch());
    Ok((StatusCode::ACCEPTED, axum::Json(answer)))
}
