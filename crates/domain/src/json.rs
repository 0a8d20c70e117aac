//! A JSON document as it is stored: checked, compact, keys sorted.

use std::fmt;
use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::Value;

/// The canonical text of a JSON document: no white space, object keys sorted, the last of two equal
/// keys kept, numbers with the digits they were sent with (an exponent gains its sign). Two documents that mean the same have one
/// text, so the text can be compared, hashed and counted.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Json(Arc<str>);

/// Why a document is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JsonFault {
    /// Not JSON at all, or a lone surrogate in a string.
    #[error("the document is not valid JSON: {0}")]
    Syntax(String),
    /// A NUL in a string or a key.
    #[error("the document holds a NUL character (U+0000); remove it or send U+FFFD in its place")]
    Nul,
    /// More levels than allowed.
    #[error("the document is nested deeper than {max} levels")]
    TooDeep {
        /// The levels allowed; a scalar has none, `[]` and `{}` have one.
        max: usize,
    },
    /// More bytes than allowed, counted on the canonical text.
    #[error("the document has {bytes} bytes; the limit is {max}")]
    TooLong {
        /// What was sent.
        bytes: usize,
        /// What is allowed.
        max: usize,
    },
}

impl Json {
    /// `{}`.
    pub fn empty_object() -> Self {
        Self("{}".into())
    }

    /// Checks and canonicalises a parsed document.
    pub fn from_value(
        value: &Value,
        max_depth: usize,
        max_bytes: usize,
    ) -> Result<Self, JsonFault> {
        check(value, max_depth, max_depth)?;
        let text = value.to_string();
        if text.len() > max_bytes {
            return Err(JsonFault::TooLong {
                bytes: text.len(),
                max: max_bytes,
            });
        }
        Ok(Self(text.into()))
    }

    /// Takes a text that this type wrote earlier, as a store hands it back.
    pub fn from_stored(text: &str) -> Self {
        Self(text.into())
    }

    /// The canonical text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The document; an error names a text that this type did not write.
    pub fn to_value(&self) -> Result<Value, JsonFault> {
        serde_json::from_str(&self.0).map_err(|e| JsonFault::Syntax(e.to_string()))
    }
}

fn check(value: &Value, levels_left: usize, max: usize) -> Result<(), JsonFault> {
    let descend = |levels_left: usize| levels_left.checked_sub(1).ok_or(JsonFault::TooDeep { max });
    match value {
        Value::String(text) if text.contains('\0') => Err(JsonFault::Nul),
        Value::Array(items) => {
            let left = descend(levels_left)?;
            items.iter().try_for_each(|item| check(item, left, max))
        }
        Value::Object(fields) => {
            let left = descend(levels_left)?;
            fields.iter().try_for_each(|(key, item)| {
                if key.contains('\0') {
                    return Err(JsonFault::Nul);
                }
                check(item, left, max)
            })
        }
        _ => Ok(()),
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The document is somebody's content: only its size may reach a log.
        write!(f, "Json({} bytes)", self.0.len())
    }
}

/// Written into the surrounding document as JSON, not as a string.
impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &serde_json::value::RawValue =
            serde_json::from_str(&self.0).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(text: &str) -> Result<String, JsonFault> {
        let value = serde_json::from_str(text).map_err(|e| JsonFault::Syntax(e.to_string()))?;
        Json::from_value(&value, 3, 64).map(|json| json.as_str().to_owned())
    }

    #[test]
    fn one_meaning_has_one_text_and_numbers_keep_their_digits() {
        assert_eq!(
            canonical(r#"{ "b":1.10, "a":[1e2, 12345678901234567890123] }"#).unwrap(),
            r#"{"a":[1e+2,12345678901234567890123],"b":1.10}"#
        );
        assert_eq!(canonical(r#"{"a":1,"a":2}"#).unwrap(), r#"{"a":2}"#);
    }

    #[test]
    fn depth_size_nul_and_lone_surrogates_are_refused() {
        assert!(canonical("[[[1]]]").is_ok());
        assert_eq!(canonical("[[[[1]]]]"), Err(JsonFault::TooDeep { max: 3 }));
        assert_eq!(canonical(r#"["a\u0000"]"#), Err(JsonFault::Nul));
        assert_eq!(canonical(r#"{"\u0000":1}"#), Err(JsonFault::Nul));
        assert!(matches!(
            canonical(r#"["\ud800"]"#),
            Err(JsonFault::Syntax(_))
        ));
        let long = format!("\"{}\"", "x".repeat(63));
        assert_eq!(
            canonical(&long),
            Err(JsonFault::TooLong { bytes: 65, max: 64 })
        );
    }
}
