//! The identity names a body must not carry: who calls is said by the key alone.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// Names that no query, no body and neither `turn` nor `ref` in a body may carry.
pub const RESERVED: [&str; 3] = ["tenant_id", "installation_id", "source"];

/// Whether the name is reserved.
pub fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name)
}

/// The parts of a body that are ours. What a caller keeps in `metadata` and `tool_calls` is its own
/// document, with whatever names it likes.
const PARTS: [&str; 2] = ["ref", "turn"];

/// A reserved name, and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) name: &'static str,
    part: Option<&'static str>,
}

impl Found {
    /// RFC 6901.
    pub(crate) fn pointer(self) -> String {
        let Self { name, part } = self;
        part.map_or_else(|| format!("/{name}"), |part| format!("/{part}/{name}"))
    }
}

/// Walks the whole document once: an error when it is no JSON, else the first reserved name at its top
/// level or in one of our parts that is not `allowed` at the top. What stands in it is not decoded.
pub(crate) fn find(text: &str, allowed: &[&str]) -> Result<Option<Found>, serde_json::Error> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let part = None;
    let found = Names { part, allowed }.deserialize(&mut reader)?;
    reader.end()?;
    Ok(found)
}

struct Names<'a> {
    part: Option<&'static str>,
    allowed: &'a [&'a str],
}

impl Names<'_> {
    fn judge(&self, name: &str) -> Option<Found> {
        let name = RESERVED.into_iter().find(|reserved| *reserved == name)?;
        let part = self.part;
        (!self.allowed.contains(&name)).then_some(Found { name, part })
    }

    /// The part of this name that is to be looked into.
    fn part(&self, name: &str) -> Option<&'static str> {
        let part = PARTS.into_iter().find(|part| *part == name);
        part.filter(|_| self.part.is_none())
    }
}

impl<'de> DeserializeSeed<'de> for Names<'_> {
    type Value = Option<Found>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

/// Only an object has names; anything else is walked over.
impl<'de> Visitor<'de> for Names<'_> {
    type Value = Option<Found>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON document")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(name) = map.next_key::<Cow<'de, str>>()? {
            let inside = if let Some(part) = self.part(&name) {
                let (part, allowed) = (Some(part), &[][..]);
                map.next_value_seed(Names { part, allowed })?
            } else {
                map.next_value::<IgnoredAny>()?;
                None
            };
            found = found.or(self.judge(&name)).or(inside);
        }
        Ok(found)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str, allowed: &[&str]) -> Option<String> {
        find(text, allowed).expect("JSON").map(Found::pointer)
    }

    // T-09
    #[test]
    fn our_own_objects_count_and_null_counts_too() {
        for (text, pointer) in [
            (r#"{"a":1,"tenant_id":"x"}"#, "/tenant_id"),
            (r#"{"source":null}"#, "/source"),
            (r#"{"\u0073ource":1}"#, "/source"),
            (r#"{"turn":{"tenant_id":"x"}}"#, "/turn/tenant_id"),
            (r#"{"ref":{"id":"U1","source":null}}"#, "/ref/source"),
            (
                r#"{"ref":{"installation_id":7},"turn":{}}"#,
                "/ref/installation_id",
            ),
        ] {
            assert_eq!(at(text, &[]).as_deref(), Some(pointer), "{text}");
        }
    }

    // T-09
    #[test]
    fn a_callers_own_documents_may_hold_any_name() {
        for text in [
            r#"{"metadata":{"source":"x","turn":{"source":1}}}"#,
            r#"{"tool_calls":[{"tenant_id":"x"}]}"#,
            r#"{"turn":{"turn":{"source":1}},"ref":[{"source":1}]}"#,
            "[1,[]]",
            "1",
            "1.5",
            "-1",
            "\"source\"",
            "null",
            "true",
            r#"{"turn":1.5,"ref":"source"}"#,
        ] {
            assert_eq!(at(text, &[]), None, "{text}");
        }
    }

    #[test]
    fn what_is_allowed_hides_nothing_behind_it() {
        let at = |text: &str| at(text, &["source"]);
        assert_eq!(at(r#"{"source":1}"#), None);
        let both = at(r#"{"source":1,"tenant_id":2}"#);
        assert_eq!(both.as_deref(), Some("/tenant_id"));
        assert_eq!(
            at(r#"{"ref":{"source":1}}"#).as_deref(),
            Some("/ref/source")
        );
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
            assert!(find(text, &[]).is_err(), "{text}");
        }
    }
}
