//! How bytes become a body, and how a refusal names the field.

use serde::de::DeserializeOwned;
use serde_json::error::Category;
use serde_path_to_error::{Path, Segment};

use crate::objects::Objects;
use crate::{Code, Problem, reserved};

/// Reads one JSON document. Unknown fields are ignored, reserved ones refused, a field named twice is
/// no usable JSON, and an array is no object. The refusal names the field and never repeats what was sent.
pub fn from_json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    decode(bytes, &[])
}

/// As [`from_json`], for a body whose `source` says why something is done, not who calls.
pub fn from_json_with_source<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    decode(bytes, &["source"])
}

fn decode<T: DeserializeOwned>(bytes: &[u8], allowed: &[&str]) -> Result<T, Problem> {
    let text = std::str::from_utf8(bytes)
        .map_err(|_| Problem::new(Code::InvalidJson, "the body is not UTF-8"))?;
    // Before any field: half a document is no JSON, whatever its first half says.
    let reserved = reserved::find(text, allowed).map_err(|error| problem(&error, None))?;
    if let Some(found) = reserved {
        let detail = format!("the field {} is reserved; leave it out", found.name);
        return Err(Problem::new(Code::ReservedField, detail).at(found.pointer()));
    }
    let mut reader = serde_json::Deserializer::from_str(text);
    let body = serde_path_to_error::deserialize(Objects(&mut reader)).map_err(|error| {
        let pointer = pointer(error.path());
        problem(error.inner(), Some(&pointer))
    })?;
    Ok(body)
}

fn problem(error: &serde_json::Error, pointer: Option<&str>) -> Problem {
    let text = error.to_string();
    let refuse = |code, detail: String| {
        let problem = Problem::new(code, detail);
        match pointer {
            Some(pointer) => problem.at(pointer),
            None => problem,
        }
    };
    // serde_json's texts for half a surrogate pair; each has a test below.
    if text.starts_with("lone leading surrogate")
        || text.starts_with("unexpected end of hex escape")
    {
        let detail = "the text holds a lone surrogate; send whole characters or U+FFFD";
        return refuse(Code::InvalidText, detail.to_owned());
    }
    if text.starts_with("number out of range") {
        let detail = "the number is out of range; send a smaller one";
        return refuse(Code::InvalidRequest, detail.to_owned());
    }
    if text.starts_with("duplicate field") {
        let detail = "a field is named twice; name each field once";
        return refuse(Code::InvalidJson, detail.to_owned());
    }
    if error.classify() == Category::Data {
        return refuse(Code::InvalidRequest, expected(&text));
    }
    let (line, column) = (error.line(), error.column());
    let detail = format!("the body is not JSON: see line {line}, column {column}");
    Problem::new(Code::InvalidJson, detail)
}

/// What serde expected, without what it found: that is the caller's content.
pub(crate) fn expected(text: &str) -> String {
    if text.starts_with("missing field") {
        let field = text.split('`').nth(1).unwrap_or_default();
        return format!("the field {field} is missing; add it");
    }
    match text.rsplit_once(", expected ") {
        Some((_, wanted)) => {
            let wanted = wanted.rsplit_once(" at line ").map_or(wanted, |(w, _)| w);
            let wanted = wanted
                .strip_prefix("struct ")
                .map_or(wanted, |_| "an object");
            format!("the field has the wrong type; send {wanted}")
        }
        None => "the field is not usable; see docs/api.md".to_owned(),
    }
}

/// RFC 6901.
fn pointer(path: &Path) -> String {
    let mut pointer = String::new();
    for segment in path {
        match segment {
            Segment::Seq { index } => {
                pointer.push('/');
                pointer.push_str(&index.to_string());
            }
            Segment::Map { key } => {
                pointer.push('/');
                pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
            }
            Segment::Enum { .. } | Segment::Unknown => {}
        }
    }
    pointer
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::Value;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only its decoding is looked at")]
    struct Body {
        text: String,
        at: Option<i64>,
        inner: Option<Inner>,
        any: Option<Value>,
    }

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only its decoding is looked at")]
    struct Inner {
        list: Vec<u8>,
    }

    fn refusal(body: &[u8]) -> (Code, Option<String>) {
        let problem = from_json::<Body>(body).unwrap_err();
        assert!(!problem.detail.contains("sentinel"), "{}", problem.detail);
        (problem.code, problem.pointer.clone())
    }

    fn at(code: Code, pointer: &str) -> (Code, Option<String>) {
        (code, Some(pointer.to_owned()))
    }

    #[test]
    fn what_is_no_json_is_invalid_json() {
        for body in [
            "",
            "{",
            "{\"text\":\"a\"} x",
            "{\"text\":7} x",
            "{\"text\":7",
            "[7",
            "nonsense",
            "{\"text\":\"\u{1}\"}",
            "{'a':1}",
        ] {
            assert_eq!(
                refusal(body.as_bytes()),
                (Code::InvalidJson, None),
                "{body}"
            );
        }
        assert_eq!(refusal(b"{\"text\":\"\xff\"}").0, Code::InvalidJson);
        let deep = "[".repeat(10_000);
        assert_eq!(
            refusal(format!("{{\"any\":{deep}").as_bytes()).0,
            Code::InvalidJson
        );
        assert_eq!(refusal(br#"{"text":"a","text":"b"}"#).0, Code::InvalidJson);
    }

    #[test]
    fn half_a_surrogate_pair_is_invalid_text() {
        for escape in [r"\ud800", r"\ud800x", r"\udc00", r"\ud800\u0041"] {
            let body = format!(r#"{{"text":"{escape}"}}"#);
            assert_eq!(refusal(body.as_bytes()).0, Code::InvalidText, "{escape}");
        }
        assert!(from_json::<Body>(br#"{"text":"\ud83d\ude00"}"#).is_ok());
    }

    #[test]
    fn a_wrong_type_is_named_by_its_pointer() {
        let invalid = |body: &str, pointer: &str| {
            assert_eq!(
                refusal(body.as_bytes()),
                at(Code::InvalidRequest, pointer),
                "{body}"
            );
        };
        invalid(r#"{"text":7}"#, "/text");
        invalid(r#"{"text":"a","at":"sentinel"}"#, "/at");
        invalid(r#"{"text":"a","at":1.5}"#, "/at");
        invalid(r#"{"text":"a","at":99999999999999999999}"#, "/at");
        invalid(r#"{"text":"a","at":1e999}"#, "/at");
        invalid(
            r#"{"text":"a","inner":{"list":[1,2,"sentinel"]}}"#,
            "/inner/list/2",
        );
        invalid(r#"{"text":"a","inner":{}}"#, "/inner");
        invalid("{}", "");
        // Read field by field, these would fit.
        invalid(r#"["a",1,{"list":[]},null]"#, "");
        invalid(r#"{"text":"a","inner":[[1]]}"#, "/inner");
        invalid(r#""sentinel""#, "");
    }

    #[test]
    fn unknown_fields_are_ignored_and_reserved_ones_refused() {
        assert!(from_json::<Body>(br#"{"text":"a","later":[1],"any":{"source":1}}"#).is_ok());
        for name in crate::RESERVED {
            let body = format!(r#"{{"text":"a","{name}":null}}"#);
            assert_eq!(
                refusal(body.as_bytes()),
                at(Code::ReservedField, &format!("/{name}"))
            );
        }
    }

    #[test]
    fn any_json_keeps_its_digits() {
        let body: Body =
            from_json(br#"{"text":"a","any":{"n":1.10,"big":12345678901234567890123}}"#).unwrap();
        assert_eq!(
            body.any.unwrap().to_string(),
            r#"{"big":12345678901234567890123,"n":1.10}"#
        );
    }
}
