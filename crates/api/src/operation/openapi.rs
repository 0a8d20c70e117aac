//! `GET /openapi.json`

use std::sync::LazyLock;

use axum::http::header;
use axum::response::{IntoResponse, Response};

use crate::openapi::document;

/// The surface as an `OpenAPI` document, written once.
pub(crate) async fn openapi() -> Response {
    static TEXT: LazyLock<String> = LazyLock::new(|| document().to_string());
    ([(header::CONTENT_TYPE, "application/json")], TEXT.as_str()).into_response()
}
