//! A string that holds JSON itself, as the arguments of a tool usually do.
//!
//! The plain scan of the string has already seen everything that is written without escapes. Here
//! escaped strings are read once more with their escapes undone, and the values of telling names are
//! covered whole. Offsets stay those of the outer string.

use serde::de::IgnoredAny;

use crate::detector::Detector;
use crate::json::is_denied;
use crate::rule::Candidate;
use crate::rules::DENIED_KEY;

/// A cheap look before anything is parsed.
pub(crate) fn may_be_json(text: &str) -> bool {
    let text = text.trim();
    let brackets = (text.starts_with('{') && text.ends_with('}'))
        || (text.starts_with('[') && text.ends_with(']'));
    brackets && text.contains('"')
}

pub(crate) fn collect(detector: &Detector, text: &str, depth: usize, out: &mut Vec<Candidate>) {
    let escaped = text.contains('\\');
    if serde_json::from_str::<IgnoredAny>(text).is_err() {
        return;
    }
    let bytes = text.as_bytes();
    let mut name = String::new();
    let mut denied = false;
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                let end = string_end(bytes, at + 1);
                let is_name = bytes[end + 1..]
                    .iter()
                    .find(|byte| !byte.is_ascii_whitespace())
                    == Some(&b':');
                if is_name {
                    name = unescape(&text[at + 1..end]).0;
                    denied = is_denied(&name);
                } else if denied {
                    cover(at + 1, end, out);
                }
                if escaped && text[at + 1..end].contains('\\') {
                    let context = if is_name { "" } else { name.as_str() };
                    read_escaped(detector, context, &text[at + 1..end], at + 1, depth, out);
                }
                at = end + 1;
            }
            b'-' | b'0'..=b'9' => {
                let end = number_end(bytes, at);
                if denied {
                    cover(at, end, out);
                }
                at = end;
            }
            b'}' | b']' => {
                denied = false;
                at += 1;
            }
            _ => at += 1,
        }
    }
}

/// A number of JSON that a text holds, and how deep in strings of JSON it stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BareNumber {
    pub(crate) start: usize,
    pub(crate) end: usize,
    depth: u32,
}

impl BareNumber {
    /// The quote that makes it a string where it stands, as often escaped as its neighbours are.
    pub(crate) fn quote(&self) -> String {
        let escapes = 2_usize.pow(self.depth) - 1;
        "\\".repeat(escapes) + "\""
    }
}

/// Every number of the JSON in `text`, and of the JSON in its strings, in order.
pub(crate) fn bare_numbers(text: &str) -> Vec<BareNumber> {
    let mut found = Vec::new();
    gather_numbers(text, &|at| at, 0, &mut found);
    found
}

fn gather_numbers(
    text: &str,
    place: &dyn Fn(usize) -> usize,
    depth: u32,
    found: &mut Vec<BareNumber>,
) {
    const DEEPEST: u32 = 4;
    if depth > DEEPEST || !may_be_json(text) || serde_json::from_str::<IgnoredAny>(text).is_err() {
        return;
    }
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                let end = string_end(bytes, at + 1);
                if text[at + 1..end].contains('\\') {
                    let (plain, map) = unescape(&text[at + 1..end]);
                    let inner = |inside: usize| place(at + 1 + map[inside]);
                    gather_numbers(&plain, &inner, depth + 1, found);
                }
                at = end + 1;
            }
            b'-' | b'0'..=b'9' => {
                let end = number_end(bytes, at);
                found.push(BareNumber {
                    start: place(at),
                    end: place(end),
                    depth,
                });
                at = end;
            }
            _ => at += 1,
        }
    }
}

fn number_end(bytes: &[u8], at: usize) -> usize {
    crate::text::run_end(bytes, at, usize::MAX, |byte| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'+' | b'-')
    })
}

fn cover(start: usize, end: usize, out: &mut Vec<Candidate>) {
    if start < end {
        out.push(Candidate {
            start,
            end,
            rule: &DENIED_KEY,
            score: 1.0,
        });
    }
}

fn read_escaped(
    detector: &Detector,
    name: &str,
    raw: &str,
    offset: usize,
    depth: usize,
    out: &mut Vec<Candidate>,
) {
    let (plain, map) = unescape(raw);
    let mut inner = Vec::new();
    detector.collect(name, &plain, depth, &mut inner);
    out.extend(inner.into_iter().map(|found| Candidate {
        start: offset + map[found.start],
        end: offset + map[found.end],
        ..found
    }));
}

/// Index of the closing quote of the string whose text starts at `from`.
fn string_end(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => return at,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len() - 1
}

/// The text without its escapes, and for each of its bytes (and its end) the offset in `raw`.
fn unescape(raw: &str) -> (String, Vec<usize>) {
    let mut plain = String::with_capacity(raw.len());
    let mut map = Vec::with_capacity(raw.len() + 1);
    let mut at = 0;
    while let Some(ch) = raw[at..].chars().next() {
        let (ch, width) = if ch == '\\' {
            escape(&raw[at..])
        } else {
            (ch, ch.len_utf8())
        };
        plain.push(ch);
        map.resize(plain.len(), at);
        at += width;
    }
    map.push(raw.len());
    (plain, map)
}

/// The character an escape stands for, and how many bytes the escape takes.
fn escape(raw: &str) -> (char, usize) {
    let unit = |from: usize| {
        raw.get(from..from + 4)
            .and_then(|hex| u32::from_str_radix(hex, 16).ok())
    };
    match raw.as_bytes().get(1) {
        Some(b'n') => ('\n', 2),
        Some(b't') => ('\t', 2),
        Some(b'r') => ('\r', 2),
        Some(b'b') => ('\u{8}', 2),
        Some(b'f') => ('\u{c}', 2),
        Some(b'u') => match (unit(2), raw.get(6..8), unit(8)) {
            (Some(high @ 0xD800..=0xDBFF), Some("\\u"), Some(low @ 0xDC00..=0xDFFF)) => {
                let code = 0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00);
                (
                    char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER),
                    12,
                )
            }
            (Some(code), _, _) => (
                char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER),
                6,
            ),
            (None, _, _) => ('\\', 1),
        },
        Some(byte) if byte.is_ascii() => (char::from(*byte), 2),
        _ => ('\\', 1),
    }
}
