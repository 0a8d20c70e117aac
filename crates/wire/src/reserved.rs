//! The identity names a body must not carry: who calls is said by the key alone.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};

/// Names that no body and no query may carry at its top level.
pub const RESERVED: [&str; 3] = ["tenant_id", "installation_id", "source"];

/// Whether the name is reserved.
pub fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name)
}

/// The first reserved name at the top level of a JSON object. A text that is no object, or no JSON,
/// has none: decoding it says what is wrong.
pub(crate) fn find(text: &str) -> Option<&'static str> {
    serde_json::from_str::<Found>(text).ok().and_then(|f| f.0)
}

struct Found(Option<&'static str>);

impl<'de> Deserialize<'de> for Found {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Names)
    }
}

struct Names;

impl<'de> Visitor<'de> for Names {
    type Value = Found;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Found, A::Error> {
        let mut found = None;
        while let Some((name, IgnoredAny)) = map.next_entry::<Cow<'de, str>, IgnoredAny>()? {
            found = found.or_else(|| RESERVED.into_iter().find(|reserved| *reserved == name));
        }
        Ok(Found(found))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_top_level_counts_and_null_counts_too() {
        assert_eq!(find(r#"{"a":1,"tenant_id":"x"}"#), Some("tenant_id"));
        assert_eq!(find(r#"{"source":null}"#), Some("source"));
        assert_eq!(find(r#"{"\u0073ource":1}"#), Some("source"));
        assert_eq!(find(r#"{"metadata":{"source":"x"}}"#), None);
        assert_eq!(find("[1]"), None);
        assert_eq!(find("{"), None);
    }
}
