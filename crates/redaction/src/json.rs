//! The walk over a JSON field: every leaf and every key, with its pointer.

use serde_json::Value;

use crate::detector::Detector;
use crate::rules::{DENIED_KEY, UNSCANNED};
use crate::scan::{Collector, Place};

/// Names whose value is a secret whatever it looks like, without case and punctuation.
const DENIED: &[&str] = &[
    "accesskey",
    "accesstoken",
    "apikey",
    "apisecret",
    "apitoken",
    "authorization",
    "authtoken",
    "bearertoken",
    "clientsecret",
    "cookie",
    "cookies",
    "credential",
    "credentials",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "proxyauthorization",
    "pwd",
    "refreshtoken",
    "secret",
    "secretaccesskey",
    "secretkey",
    "sessiontoken",
    "setcookie",
    "signingkey",
    "xapikey",
    "xauthtoken",
];

/// Whether a field of this name is covered whole.
pub(crate) fn is_denied(name: &str) -> bool {
    const LONGEST: usize = 32;
    if name.len() > LONGEST {
        return false;
    }
    let plain: String = name
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|ch| ch.to_ascii_lowercase())
        .collect();
    DENIED.binary_search(&plain.as_str()).is_ok()
}

/// Where the walk is.
struct Position<'n> {
    pointer: String,
    /// The nearest field name above.
    name: &'n str,
    denied: bool,
    depth: usize,
}

/// Walks `text` as JSON. What cannot be parsed is not shown to anybody: it is covered whole.
pub(crate) fn scan(detector: &Detector, text: &str, out: &mut Collector<'_>) {
    if text.len() > detector.config().max_leaf_bytes {
        return out.cover(Place::root(), text.len(), &UNSCANNED);
    }
    match serde_json::from_str::<Value>(text) {
        Ok(value) => {
            let mut position = Position {
                pointer: String::new(),
                name: "",
                denied: false,
                depth: 0,
            };
            walk(detector, &value, &mut position, out);
        }
        Err(_) => out.cover(Place::root(), text.len(), &UNSCANNED),
    }
}

fn walk<'n>(
    detector: &Detector,
    value: &'n Value,
    position: &mut Position<'n>,
    out: &mut Collector<'_>,
) {
    if position.depth > detector.config().max_json_depth {
        return out.cover(
            Place::at(&position.pointer),
            value.to_string().len(),
            &UNSCANNED,
        );
    }
    match value {
        Value::Null | Value::Bool(_) => {}
        Value::Number(number) => leaf(detector, &number.to_string(), position, out),
        Value::String(text) => leaf(detector, text, position, out),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                step(index, None, position, |position| {
                    walk(detector, item, position, out);
                });
            }
        }
        Value::Object(fields) => {
            for (index, (name, item)) in fields.iter().enumerate() {
                step(index, Some(name), position, |position| {
                    out.text(detector, Place::key(&position.pointer), "", name);
                    walk(detector, item, position, out);
                });
            }
        }
    }
}

/// Goes one level down and comes back.
fn step<'n>(
    index: usize,
    name: Option<&'n str>,
    position: &mut Position<'n>,
    visit: impl FnOnce(&mut Position<'n>),
) {
    let (length, outer, denied) = (position.pointer.len(), position.name, position.denied);
    push_step(&mut position.pointer, index);
    position.name = name.unwrap_or(outer);
    position.denied |= name.is_some_and(is_denied);
    position.depth += 1;
    visit(position);
    position.depth -= 1;
    position.pointer.truncate(length);
    (position.name, position.denied) = (outer, denied);
}

/// Members of an object count like items of an array, in the order of their names: a name can itself
/// be what nobody may keep, such as an address (T-34).
pub(crate) fn push_step(pointer: &mut String, index: usize) {
    pointer.push('/');
    pointer.push_str(&index.to_string());
}

fn leaf(detector: &Detector, text: &str, position: &Position<'_>, out: &mut Collector<'_>) {
    if position.denied && !text.is_empty() {
        return out.cover(Place::at(&position.pointer), text.len(), &DENIED_KEY);
    }
    out.text(detector, Place::at(&position.pointer), position.name, text);
}

#[cfg(test)]
mod tests {
    use super::{DENIED, is_denied};

    #[test]
    fn names_are_compared_without_case_and_punctuation() {
        assert!(DENIED.is_sorted());
        for name in [
            "password",
            "Set-Cookie",
            "API_KEY",
            "clientSecret",
            "X-Api-Key",
        ] {
            assert!(is_denied(name), "{name}");
        }
        assert!(!is_denied("passwords_changed_at"));
    }
}
