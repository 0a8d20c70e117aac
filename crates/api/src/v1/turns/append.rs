//! `POST /v1/tenants/{tenant}/turns`

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use throughline_conversation_memory::{ClientMessageId, QueuedAuthor};
use throughline_wire::{AppendAnswer, AppendBody, CheckedAppend};

use super::outcome::Sent;
use super::{author, queue};
use crate::body::Json;
use crate::caller::Tenant;
use crate::failure::Failure;
use crate::query::Query;
use crate::shared::Shared;

/// Stores one finished turn: 201, or 200 for one that was stored before. With `on_unavailable=queue`
/// also 202, for one that is durably queued because the store could not take it.
pub(crate) async fn append(
    tenant: Tenant,
    query: Query,
    State(shared): State<Shared>,
    body: Result<Json<AppendBody>, Failure>,
) -> Result<Response, Failure> {
    let arrived = tenant.clock().now();
    let refused = |_: &Failure| shared.counters.append_refused();
    let queues = query.queues().map_err(Failure::from).inspect_err(refused)?;
    let Json(body) = body.inspect_err(refused)?;
    let checked = body
        .check(tenant.id(), || minted_key(&tenant))
        .map_err(Failure::from)
        .inspect_err(refused)?;
    let spare = queues.then(|| checked.clone());
    let (failure, author) = match store(&tenant, &shared, checked).await {
        Ok(answer) => {
            let status = StatusCode::from_u16(answer.status()).unwrap_or(StatusCode::OK);
            let answer = answer.at_epoch(tenant.epoch());
            return Ok((status, axum::Json(answer)).into_response());
        }
        Err(not_stored) => not_stored,
    };
    match spare {
        Some(turn) if queue::helps(&failure) => {
            let answer = queue::keep(&tenant, turn, author, arrived).await;
            let answer = answer.map_err(|refusal| queue::neither(&failure, refusal))?;
            let answer = answer.at_epoch(tenant.epoch());
            Ok((StatusCode::ACCEPTED, axum::Json(answer)).into_response())
        }
        _ => Err(failure),
    }
}

/// A turn that is not stored comes with its author, as far as they are known by then.
async fn store(
    tenant: &Tenant,
    shared: &Shared,
    checked: CheckedAppend,
) -> Result<AppendAnswer, (Failure, QueuedAuthor)> {
    let user = match author::find(tenant, shared, &checked.author, checked.said_at()).await {
        Ok(user) => user,
        Err(error) => {
            let failure = author::not_stored(shared, Arc::new(error), checked.key());
            return Err((failure, queue::author(tenant, &checked.author)));
        }
    };
    let sent = Sent::new(&checked, user);
    let result = tenant.append(checked.said_by(user)).await;
    sent.answer(shared, result)
        .map_err(|failure| (failure, QueuedAuthor::User(user)))
}

/// A key for a caller that gave none (T-12).
pub(crate) fn minted_key(tenant: &Tenant) -> ClientMessageId {
    let id = tenant.ids().ulid(tenant.clock().now());
    ClientMessageId::parse(&format!("m:{id}")).expect("28 plain characters are a key")
}
