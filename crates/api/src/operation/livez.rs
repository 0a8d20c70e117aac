//! `GET /livez`, `GET /healthz`

use serde_json::{Value, json};

/// The process answers; nothing else is asked.
pub(crate) async fn livez() -> axum::Json<Value> {
    axum::Json(json!({"status": "live"}))
}
