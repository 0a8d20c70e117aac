//! The query string of a path.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// Everything but RFC 3986's unreserved characters.
const VALUE: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// A path that parameters are added to.
pub(crate) struct Query(String);

impl Query {
    pub(crate) fn of(path: String) -> Self {
        Self(path)
    }

    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        let separator = if self.0.contains('?') { '&' } else { '?' };
        self.0.push(separator);
        self.0.push_str(name);
        self.0.push('=');
        self.0.extend(utf8_percent_encode(value, VALUE));
        self
    }

    /// Leaves an absent value out.
    pub(crate) fn with_some(self, name: &str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    pub(crate) fn path(self) -> String {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_cannot_become_another_parameter() {
        let query = Query::of("/x".to_owned())
            .with("a", "1&b=2 +é#")
            .with_some("c", None)
            .with("d", "");
        assert_eq!(query.path(), "/x?a=1%26b%3D2%20%2B%C3%A9%23&d=");
    }
}
