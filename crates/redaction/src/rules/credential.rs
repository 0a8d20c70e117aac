//! Credentials in the header of a request.

use super::Scanner;
use super::value::{digits, is_placeholder, looks_like_code};
use crate::Entity;
use crate::rule::{Rule, Strength};
use crate::text::{byte_at, byte_before, is_word, run_end};

pub(crate) static CREDENTIAL: Rule = Rule {
    id: "secret-http-credential",
    rev: 1,
    entity: Entity::Secret,
    strength: Strength::Structural,
    summary: "the credential of a bearer or basic authorization header, or of a program's user flag",
    matches: &["Authorization: Bearer q8Zr4TnV1x", "Lw7PbC2dYk"],
    rejects: &["Authorization: Bearer REDACTED", ", a bearer of news"],
};

/// Handles `bearer ` or `basic ` that ends at `from`.
pub(crate) fn credential(scanner: &mut Scanner<'_>, start: usize, from: usize) -> Option<usize> {
    let bytes = scanner.bytes();
    let allowed = |byte: u8| {
        byte.is_ascii_alphanumeric()
            || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'+' | b'/' | b'=')
    };
    let mut end = run_end(bytes, from, 4096, allowed);
    while end > from && bytes[end - 1] == b'.' {
        end -= 1;
    }
    let text = &scanner.text()[from..end];
    let basic = bytes[start..from].eq_ignore_ascii_case(b"basic ");
    let code = matches!(byte_at(bytes, end), b'(' | b'[');
    if text.len() < 8
        || code
        || is_word(byte_before(bytes, start))
        || is_placeholder(text)
        || looks_like_code(text)
    {
        return None;
    }
    let mixed = digits(text) > 0 && text.bytes().any(|byte| byte.is_ascii_alphabetic());
    let cased = text.bytes().skip(1).any(|byte| byte.is_ascii_uppercase())
        && text.bytes().any(|byte| byte.is_ascii_lowercase());
    let believable = if basic {
        is_user_and_password(text)
    } else {
        text.len() >= 12 && (mixed || text.len() >= 20 && cased)
    };
    if !believable {
        return None;
    }
    scanner.push(&CREDENTIAL, from, end, 0.9);
    Some(end)
}

/// Handles `-u ` that ends at `from`: a name and a password given to a program.
pub(crate) fn user_flag(scanner: &mut Scanner<'_>, from: usize) -> Option<usize> {
    let bytes = scanner.bytes();
    let quote = matches!(byte_at(bytes, from), b'"' | b'\'');
    let from = from + usize::from(quote);
    let end = run_end(bytes, from, 256, |byte| {
        byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\'')
    });
    let colon = from + memchr::memchr(b':', &bytes[from..end])?;
    let password = &scanner.text()[colon + 1..end];
    // `-u 1000:1000` names a user and a group.
    let named =
        bytes[from..colon].iter().any(u8::is_ascii_alphabetic) && digits(password) < password.len();
    if colon == from
        || !named
        || password.len() < 6
        || is_placeholder(password)
        || looks_like_code(password)
    {
        return None;
    }
    scanner.push(&CREDENTIAL, colon + 1, end, 0.8);
    Some(end)
}

/// Whether base64 text decodes to printable characters around a colon.
fn is_user_and_password(text: &str) -> bool {
    let mut decoded = Vec::with_capacity(text.len());
    let (mut bits, mut count) = (0_u32, 0);
    for byte in text.trim_end_matches('=').bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return false,
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            decoded.push((bits >> count & 0xFF) as u8);
        }
    }
    decoded.contains(&b':') && decoded.iter().all(|byte| *byte >= b' ' && *byte != 0x7F)
}
