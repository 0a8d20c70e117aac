//! Around every request: its id, its span, its duration, and the one place where a refusal is written.

use std::panic::AssertUnwindSafe;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use throughline_wire::Code;
use tracing::Instrument;
use tracing::field::Empty;

use crate::failure::{Carried, Failure, chain};
use crate::request_id;
use crate::shared::Shared;

/// The route of a request that no line of the list matches.
pub(crate) const UNMATCHED: &str = "unmatched";

/// The methods that metrics know.
pub(crate) fn method_label(method: &Method) -> &'static str {
    match *method {
        Method::GET | Method::HEAD => "GET",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        _ => "other",
    }
}

/// Nothing of the request but its id, method and route template, and its tenant once the key proved it,
/// enters the span: no path, no query, no header, no body (failures.md 33).
pub(crate) async fn observe(
    State(shared): State<Shared>,
    request: Request,
    next: Next,
) -> Response {
    let id = request_id::of(request.headers(), &*shared.clock, &*shared.ids);
    let method = method_label(request.method());
    let matched = request.extensions().get::<MatchedPath>();
    let route = matched.map_or_else(|| UNMATCHED.to_owned(), |path| path.as_str().to_owned());
    let span = tracing::info_span!(
        "request",
        request.id = id.to_str().unwrap_or_default(),
        http.method = method,
        http.route = route,
        tenant.id = Empty,
    );
    let started = Instant::now();
    let mut response = AssertUnwindSafe(next.run(request))
        .catch_unwind()
        .instrument(span.clone())
        .await
        // The panic's own text may quote somebody; the panic hook is the place that shows it.
        .unwrap_or_else(|_| Failure::internal("a handler panicked").into_response());
    let elapsed = started.elapsed();

    span.in_scope(|| {
        let code = write_refusal(&mut response, &id);
        tracing::info!(
            http.status = response.status().as_u16(),
            problem.code = code.map(Code::as_str),
            duration_ms = elapsed.as_secs_f64() * 1_000.0,
            "request served"
        );
    });
    shared
        .counters
        .served(method, &route, response.status(), elapsed);
    response.headers_mut().insert(request_id::HEADER, id);
    response
}

/// Turns a carried failure into its body and headers, and logs what lies behind it.
fn write_refusal(response: &mut Response, id: &HeaderValue) -> Option<Code> {
    let Carried(failure) = response.extensions_mut().remove::<Carried>()?;
    let mut problem = failure.problem.clone();
    problem.request_id = id.to_str().ok().map(str::to_owned);
    if let Some(cause) = &failure.cause {
        let chain = chain(cause.as_ref());
        tracing::error!(
            problem.code = problem.code.as_str(),
            cause = chain,
            "request failed"
        );
    }
    let body = serde_json::to_vec(&problem).expect("a problem holds only text and numbers");
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/problem+json"),
    );
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(body.len()));
    if let Some(seconds) = problem.retry_after_seconds {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    if problem.code == Code::Unauthorized {
        headers.insert(
            header::WWW_AUTHENTICATE,
            HeaderValue::from_static("Bearer realm=\"throughline\""),
        );
    }
    if matches!(problem.code, Code::Timeout | Code::PayloadTooLarge) {
        // The rest of the body was not read, so nothing more can come over this connection.
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    *response.body_mut() = body.into();
    Some(problem.code)
}
