//! One bullet of the context block.

use std::time::Duration;

use throughline_domain::{Timestamp, truncate_graphemes};

use super::strip::strip_system;
use crate::Turn;

const GRAPHEMES: usize = 200;
/// A grapheme can be arbitrarily long; a bullet cannot.
const BYTES: usize = 800;

/// `- kind, age, role: text` with its line end; `None` when nothing readable is left.
pub(super) fn line(turn: &Turn, role: &str, text: &str, now: Timestamp) -> Option<String> {
    let text = quote(text);
    if text.is_empty() {
        return None;
    }
    let kind = turn.scope.kind().as_str();
    let age = age(now.since(turn.created_at));
    Some(format!("- {kind}, {age}, {role}: {text}\n"))
}

fn age(age: Duration) -> String {
    match age.as_secs() {
        0..60 => "just now".to_owned(),
        s @ 60..3_600 => format!("{} min ago", s / 60),
        s @ 3_600..86_400 => format!("{} h ago", s / 3_600),
        s => format!("{} d ago", s / 86_400),
    }
}

/// Makes somebody's words safe to stand in one line of a prompt: system blocks gone, white space and
/// controls collapsed, cut at a grapheme, structure escaped.
fn quote(text: &str) -> String {
    // Bounds the work on a message of a megabyte; far beyond what 200 graphemes usually hold.
    let text = strip_system(truncate_graphemes(text, 4_000, 16_000));
    let flat = collapse(&text);
    let cut = truncate_graphemes(&flat, GRAPHEMES, BYTES);
    let mut quoted = escape(cut.trim_end());
    if cut.len() < flat.len() {
        quoted.push('…');
    }
    quoted
}

/// One space for each run of white space, line separators and control characters.
fn collapse(text: &str) -> String {
    let mut flat = String::with_capacity(text.len());
    let gap = |c: char| c.is_whitespace() || c.is_control();
    for word in text.split(gap).filter(|word| !word.is_empty()) {
        if !flat.is_empty() {
            flat.push(' ');
        }
        flat.push_str(word);
    }
    flat
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 8);
    if text.starts_with(['-', '#', '*', '+', '>', '=', '|']) {
        escaped.push('\\');
    }
    for c in text.chars() {
        match c {
            '`' => escaped.push_str("\\`"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            c => escaped.push(c),
        }
    }
    escaped
}
