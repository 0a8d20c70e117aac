//! Byte classes and small readers that every rule uses.

use crate::covered::{placeholder_before, placeholder_follows};

/// Only ASCII letters, digits and `_` join a number to its neighbour: in `番号03-1234` the number
/// starts after a letter all the same.
pub(crate) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

pub(crate) fn byte_at(bytes: &[u8], at: usize) -> u8 {
    bytes.get(at).copied().unwrap_or(0)
}

pub(crate) fn byte_before(bytes: &[u8], at: usize) -> u8 {
    at.checked_sub(1).map_or(0, |at| bytes[at])
}

/// Whether a token may start here: nothing word-like is directly before, except the letter of an
/// escape such as `\n` in text that was escaped once too often. A mask counts as a word: what was
/// glued to the value stays glued to its label.
pub(crate) fn starts_token(bytes: &[u8], at: usize) -> bool {
    let before = byte_before(bytes, at);
    let escape = at >= 2 && bytes[at - 2] == b'\\' && matches!(before, b'n' | b't' | b'r');
    (!is_word(before) || escape) && (before != b']' || placeholder_before(bytes, at).is_none())
}

/// Whether a token may end here: nothing word-like and no mask follows.
pub(crate) fn ends_token(bytes: &[u8], at: usize) -> bool {
    let after = byte_at(bytes, at);
    !is_word(after) && (after != b'[' || !placeholder_follows(bytes, at))
}

/// End of the longest run from `at` whose bytes all satisfy `keep`, looking at most `limit` bytes far.
pub(crate) fn run_end(bytes: &[u8], at: usize, limit: usize, keep: impl Fn(u8) -> bool) -> usize {
    let stop = bytes.len().min(at.saturating_add(limit));
    let mut end = at;
    while end < stop && keep(bytes[end]) {
        end += 1;
    }
    end
}

/// Start of the longest run that ends at `at`, looking back no further than `floor`.
pub(crate) fn run_start(bytes: &[u8], at: usize, floor: usize, keep: impl Fn(u8) -> bool) -> usize {
    let mut start = at;
    while start > floor && keep(bytes[start - 1]) {
        start -= 1;
    }
    start
}

/// How often `wanted` occurs.
pub(crate) fn count(bytes: &[u8], wanted: u8) -> usize {
    memchr::memchr_iter(wanted, bytes).count()
}

/// The character that starts at `at`.
pub(crate) fn char_at(text: &str, at: usize) -> Option<char> {
    text.get(at..)?.chars().next()
}

/// The character that ends at `at`.
pub(crate) fn char_before(text: &str, at: usize) -> Option<char> {
    text.get(..at)?.chars().next_back()
}
