//! How long the service asks to wait.

use std::time::Duration;

use http::HeaderMap;
use http::header::RETRY_AFTER;

/// The seconds of `Retry-After`. The form with a date is for people's caches and is not read: the wait is
/// then the client's own.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    // A number too large for the type is longer than any deadline.
    digits.then(|| Duration::from_secs(text.parse().unwrap_or(u64::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_seconds_are_read_and_nothing_else() {
        let read = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, text.parse().unwrap());
            retry_after(&headers)
        };
        assert_eq!(read("3"), Some(Duration::from_secs(3)));
        assert_eq!(read(&"9".repeat(30)), Some(Duration::from_secs(u64::MAX)));
        for bad in ["", "-1", "1.5", "soon", "Wed, 21 Oct 2026 07:28:00 GMT"] {
            assert_eq!(read(bad), None, "{bad:?}");
        }
        assert_eq!(retry_after(&HeaderMap::new()), None);
    }
}
