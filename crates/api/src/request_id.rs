//! The id that a request carries through logs and answers.

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use throughline_domain::{Clock, Ids};

/// Read on requests and set on every answer.
pub(crate) const HEADER: HeaderName = HeaderName::from_static("x-request-id");

const MAX_BYTES: usize = 128;

/// The caller's id when it is harmless, else a new one.
pub(crate) fn of(headers: &HeaderMap, clock: &dyn Clock, ids: &dyn Ids) -> HeaderValue {
    let given = headers
        .get(HEADER)
        .filter(|value| is_harmless(value.as_bytes()));
    given.cloned().unwrap_or_else(|| {
        HeaderValue::from_str(&ids.ulid(clock.now()).to_string()).expect("a ULID is plain ASCII")
    })
}

/// Characters that cannot break a log line, a header or a shell.
fn is_harmless(id: &[u8]) -> bool {
    let harmless = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b':');
    (1..=MAX_BYTES).contains(&id.len()) && id.iter().all(harmless)
}

#[cfg(test)]
mod tests {
    use throughline_domain::{ManualClock, SeededIds, Timestamp};

    use super::*;

    fn id_for(given: &[u8]) -> String {
        let mut headers = HeaderMap::new();
        headers.insert(HEADER, HeaderValue::from_bytes(given).unwrap());
        let clock = ManualClock::at(Timestamp::from_millis(1));
        let id = of(&headers, &clock, &SeededIds::from_seed(1));
        id.to_str().unwrap().to_owned()
    }

    #[test]
    fn a_harmless_id_is_kept_and_any_other_replaced() {
        for kept in ["a", "018f-x_Y.z:1", &"x".repeat(128)] {
            assert_eq!(id_for(kept.as_bytes()), kept);
        }
        for replaced in ["", "a b", "a\"b", "a/b", "é", &"x".repeat(129)] {
            assert_eq!(id_for(replaced.as_bytes()).len(), 26, "{replaced}");
        }
    }
}
