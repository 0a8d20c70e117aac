//! `GET /readyz`

use std::time::Duration;

use axum::extract::State;
use serde_json::{Value, json};
use throughline_wire::{Code, Problem};

use crate::failure::Failure;
use crate::shared::Shared;

/// A store that is slower than this cannot serve.
const TIME: Duration = Duration::from_secs(2);

/// 200 when the store can serve and the process is not about to stop. The answer names a reason, the
/// log the detail: anybody may ask.
pub(crate) async fn readyz(State(shared): State<Shared>) -> Result<axum::Json<Value>, Failure> {
    if shared.draining.is_draining() {
        return Err(not_ready("draining"));
    }
    match tokio::time::timeout(TIME, shared.store.check()).await {
        Ok(Ok(())) => Ok(axum::Json(json!({"status": "ready"}))),
        Ok(Err(fault)) => {
            tracing::warn!(
                reason = fault.reason,
                detail = fault.detail,
                "the store is not ready"
            );
            Err(not_ready(fault.reason))
        }
        Err(_) => Err(not_ready("store_slow")),
    }
}

fn not_ready(reason: &str) -> Failure {
    Problem::new(Code::Unavailable, format!("not ready: {reason}"))
        .retry_after(1)
        .into()
}
