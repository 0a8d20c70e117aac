//! `GET /metrics`, `GET /ccm/metrics`

use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use prometheus::{Encoder, TextEncoder};
use secrecy::ExposeSecret;
use subtle::ConstantTimeEq;
use throughline_wire::Code;

use crate::failure::Failure;
use crate::shared::Shared;

/// Prometheus text, for whoever has the token; for everybody when there is none and the listener is
/// bound to loopback.
pub(crate) async fn metrics(
    State(shared): State<Shared>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    match &shared.metrics_token {
        Some(token) if !presents(&headers, token.expose_secret()) => {
            let detail = "the metrics token is needed: send authorization: bearer with it";
            return Err(Failure::new(Code::Unauthorized, detail));
        }
        None if !shared.metrics_open => {
            let detail = "metrics are closed; set a metrics token or listen on loopback";
            return Err(Failure::new(Code::Forbidden, detail));
        }
        _ => {}
    }
    let encoder = TextEncoder::new();
    let mut text = Vec::new();
    encoder
        .encode(&shared.registry.gather(), &mut text)
        .map_err(Failure::internal)?;
    let kind = encoder.format_type().to_owned();
    Ok(([(header::CONTENT_TYPE, kind)], text).into_response())
}

/// Compares hashes in constant time, so that neither content nor length can be found out by timing.
fn presents(headers: &HeaderMap, token: &str) -> bool {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(value), None) = (values.next(), values.next()) else {
        return false;
    };
    let sent = value.to_str().ok().and_then(|text| text.split_once(' '));
    sent.is_some_and(|(scheme, sent)| {
        let hash = |text: &str| *blake3::hash(text.as_bytes()).as_bytes();
        let equal = hash(sent.trim()).ct_eq(&hash(token));
        scheme.eq_ignore_ascii_case("bearer") && bool::from(equal)
    })
}
