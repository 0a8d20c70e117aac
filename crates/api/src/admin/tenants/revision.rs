//! Which revision of a configuration a change stands on.

use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use throughline_tenancy::Tenant;
use throughline_wire::{Place, Problem, TenantAnswer};

/// The tenant with its revision as `ETag`.
pub(super) fn answer(tenant: Tenant) -> Response {
    let tag = format!("\"{}\"", tenant.config_revision);
    let tag = HeaderValue::from_str(&tag).expect("digits in quotes are a header value");
    (
        [(header::ETAG, tag)],
        axum::Json(TenantAnswer::from(tenant)),
    )
        .into_response()
}

/// The revision that the caller expects, from the body or from `If-Match`; `None` for any.
pub(super) fn expected(headers: &HeaderMap, body: Option<u64>) -> Result<Option<u64>, Problem> {
    let place = Place::Parameter("If-Match");
    let mut values = headers.get_all(header::IF_MATCH).iter();
    let header = match (values.next(), values.next()) {
        (None, _) => None,
        (Some(value), None) if value.as_bytes() == b"*" => None,
        (Some(value), None) => {
            let revision = value
                .to_str()
                .ok()
                .and_then(|tag| tag.trim_matches('"').parse().ok());
            let detail = "if-match must be the etag of an earlier answer, once";
            Some(revision.ok_or_else(|| place.invalid(detail))?)
        }
        (Some(_), Some(_)) => return Err(place.invalid("if-match is given more than once")),
    };
    match (header, body) {
        (Some(header), Some(body)) if header != body => {
            Err(place.invalid("if-match and config_revision differ; send one of them"))
        }
        (header, body) => Ok(header.or(body)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_and_the_body_may_both_say_it_but_not_differently() {
        let expected = |tag: &str, body| {
            let mut headers = HeaderMap::new();
            headers.insert(header::IF_MATCH, HeaderValue::from_str(tag).unwrap());
            super::expected(&headers, body).ok()
        };
        assert_eq!(expected("\"3\"", None), Some(Some(3)));
        assert_eq!(expected("\"3\"", Some(3)), Some(Some(3)));
        assert_eq!(expected("*", Some(4)), Some(Some(4)));
        assert_eq!(expected("*", None), Some(None));
        assert_eq!(expected("\"3\"", Some(4)), None);
        assert_eq!(expected("W/\"x\"", None), None);
        assert_eq!(
            super::expected(&HeaderMap::new(), Some(5)).ok(),
            Some(Some(5))
        );
    }
}
