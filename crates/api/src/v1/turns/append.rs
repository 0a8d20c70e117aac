//! `POST /v1/tenants/{tenant}/turns`

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use throughline_conversation_memory::ClientMessageId;
use throughline_wire::AppendBody;

use super::author;
use super::outcome::Sent;
use crate::body::Json;
use crate::caller::Tenant;
use crate::failure::Failure;
use crate::shared::Shared;

/// Stores one finished turn: 201, or 200 for one that was stored before.
pub(crate) async fn append(
    tenant: Tenant,
    State(shared): State<Shared>,
    body: Result<Json<AppendBody>, Failure>,
) -> Result<Response, Failure> {
    let Json(body) = body.inspect_err(|_| shared.counters.append_refused())?;
    let checked = body
        .check(tenant.id(), || minted_key(&tenant))
        .inspect_err(|_| shared.counters.append_refused())?;
    let user = author::find(&tenant, &shared, &checked.author)
        .await
        .map_err(|error| author::not_stored(&shared, &error, checked.key()).because(error))?;
    let sent = Sent::new(&checked, user);
    let result = tenant.append(checked.said_by(user)).await;
    let answer = sent.answer(&shared, result)?;
    let status = StatusCode::from_u16(answer.status()).unwrap_or(StatusCode::OK);
    Ok((status, axum::Json(answer)).into_response())
}

/// A key for a caller that gave none (T-12).
pub(super) fn minted_key(tenant: &Tenant) -> ClientMessageId {
    let id = tenant.ids().ulid(tenant.clock().now());
    ClientMessageId::parse(&format!("m:{id}")).expect("28 plain characters are a key")
}
