//! The body: announced as JSON, within its limit, in time.

use axum::body::Body;
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, header};
use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::de::DeserializeOwned;
use throughline_wire::{Code, Problem, from_json, from_json_with_source};

use crate::failure::Failure;
use crate::shared::Shared;

/// Room for an empty body and some white space.
const EMPTY_AT_MOST: usize = 64;

/// A decoded body.
pub(crate) struct Json<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<Shared> for Json<T> {
    type Rejection = Failure;

    async fn from_request(request: Request, shared: &Shared) -> Result<Self, Failure> {
        decoded(request, shared, from_json).await.map(Self)
    }
}

/// A decoded body whose `source` says why something is done, not who calls.
pub(crate) struct SourcedJson<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<Shared> for SourcedJson<T> {
    type Rejection = Failure;

    async fn from_request(request: Request, shared: &Shared) -> Result<Self, Failure> {
        decoded(request, shared, from_json_with_source)
            .await
            .map(Self)
    }
}

/// A call that takes no body, and has none: what somebody writes there, a rehearsal perhaps, would be
/// ignored by a call that deletes. An empty object asks for nothing.
pub(crate) struct NoBody;

impl FromRequest<Shared> for NoBody {
    type Rejection = Failure;

    async fn from_request(request: Request, shared: &Shared) -> Result<Self, Failure> {
        let refused = || {
            let detail = "this call takes no body; send what it knows as parameters (docs/api.md)";
            Failure::new(Code::InvalidRequest, detail)
        };
        let bytes = read(request.into_body(), EMPTY_AT_MOST, shared).await;
        let bytes = bytes.map_err(|_| refused())?;
        match bytes.trim_ascii() {
            b"" | b"{}" => Ok(Self),
            _ => Err(refused()),
        }
    }
}

async fn decoded<T>(
    request: Request,
    shared: &Shared,
    decode: fn(&[u8]) -> Result<T, Problem>,
) -> Result<T, Failure> {
    let (parts, body) = request.into_parts();
    if !is_json(&parts.headers) {
        let detail = "the body must be announced with content-type: application/json";
        return Err(Failure::new(Code::UnsupportedMediaType, detail));
    }
    if announced_length(&parts.headers).is_some_and(|bytes| bytes > shared.body_limit) {
        return Err(too_large(shared.body_limit));
    }
    let bytes = read(body, shared.body_limit, shared).await?;
    Ok(decode(&bytes)?)
}

/// `application/json`, whatever its parameters but a charset other than UTF-8.
fn is_json(headers: &HeaderMap) -> bool {
    let mut values = headers.get_all(header::CONTENT_TYPE).iter();
    let (Some(value), None) = (values.next(), values.next()) else {
        return false;
    };
    let Ok(value) = value.to_str() else {
        return false;
    };
    let mut parts = value.split(';').map(str::trim);
    let is_json = parts
        .next()
        .is_some_and(|kind| kind.eq_ignore_ascii_case("application/json"));
    is_json
        && parts.all(|parameter| match parameter.split_once('=') {
            Some((name, value)) if name.eq_ignore_ascii_case("charset") => {
                value.trim_matches('"').eq_ignore_ascii_case("utf-8")
            }
            _ => true,
        })
}

fn announced_length(headers: &HeaderMap) -> Option<usize> {
    headers
        .get(header::CONTENT_LENGTH)?
        .to_str()
        .ok()?
        .parse()
        .ok()
}

/// Counts while it reads: a chunked body announces no length.
async fn read(body: Body, limit: usize, shared: &Shared) -> Result<Bytes, Failure> {
    let read = Limited::new(body, limit).collect();
    let Ok(read) = tokio::time::timeout(shared.body_timeout, read).await else {
        let detail = "the body did not arrive in time";
        return Err(Failure::new(Code::Timeout, detail));
    };
    match read {
        Ok(read) => Ok(read.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(too_large(limit)),
        Err(_) => {
            let detail = "the body ended early; send it again";
            Err(Failure::new(Code::InvalidJson, detail))
        }
    }
}

fn too_large(limit: usize) -> Failure {
    let detail = format!("the body is over the limit of {limit} bytes");
    Failure::new(Code::PayloadTooLarge, detail)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn only_json_in_utf_8_is_json() {
        let is_json = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_str(value).unwrap());
            super::is_json(&headers)
        };
        for good in [
            "application/json",
            "Application/JSON; charset=UTF-8",
            "application/json;v=1",
        ] {
            assert!(is_json(good), "{good}");
        }
        for bad in [
            "",
            "text/plain",
            "application/jsonx",
            "application/json; charset=latin1",
        ] {
            assert!(!is_json(bad), "{bad}");
        }
        assert!(!super::is_json(&HeaderMap::new()));
    }
}
