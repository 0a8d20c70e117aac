//! The identity names a body must not carry: who calls is said by the key alone.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// Names that no body and no query may carry at its top level.
pub const RESERVED: [&str; 3] = ["tenant_id", "installation_id", "source"];

/// Whether the name is reserved.
pub fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name)
}

/// Walks the whole document once: an error when it is no JSON, else the first reserved name at its top
/// level, `source` last. What stands in it is not decoded.
pub(crate) fn find(text: &str) -> Result<Option<&'static str>, serde_json::Error> {
    serde_json::from_str::<Found>(text).map(|found| found.0)
}

struct Found(Option<&'static str>);

impl<'de> Deserialize<'de> for Found {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Names)
    }
}

struct Names;

/// Only an object has names; anything else is walked over.
impl<'de> Visitor<'de> for Names {
    type Value = Found;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON document")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Found, A::Error> {
        let mut found = None;
        while let Some((name, IgnoredAny)) = map.next_entry::<Cow<'de, str>, IgnoredAny>()? {
            let reserved = RESERVED.into_iter().find(|reserved| *reserved == name);
            // A body that may carry a source must still not carry the others behind it.
            found = found
                .filter(|found| *found != "source")
                .or(reserved)
                .or(found);
        }
        Ok(Found(found))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Found, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Found(None))
    }

    fn visit_str<E>(self, _: &str) -> Result<Found, E> {
        Ok(Found(None))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Found, E> {
        Ok(Found(None))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Found, E> {
        Ok(Found(None))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Found, E> {
        Ok(Found(None))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Found, E> {
        Ok(Found(None))
    }

    fn visit_unit<E>(self) -> Result<Found, E> {
        Ok(Found(None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_top_level_counts_and_null_counts_too() {
        let find = |text: &str| find(text).expect("JSON");
        assert_eq!(find(r#"{"a":1,"tenant_id":"x"}"#), Some("tenant_id"));
        assert_eq!(find(r#"{"source":null}"#), Some("source"));
        assert_eq!(find(r#"{"\u0073ource":1}"#), Some("source"));
        assert_eq!(find(r#"{"metadata":{"source":"x"}}"#), None);
        for other in ["[1,[]]", "1", "1.5", "-1", "\"source\"", "null", "true"] {
            assert_eq!(find(other), None, "{other}");
        }
    }

    #[test]
    fn a_fault_anywhere_is_found() {
        for text in [
            "",
            "{",
            "[1",
            "{} x",
            r#"{"a":{"b":[1,]}}"#,
            "{\"a\":\"\u{1}\"}",
            r#""\x""#,
        ] {
            assert!(find(text).is_err(), "{text}");
        }
    }
}
