//! Hardware addresses in the three notations.

use super::Scanner;
use crate::Entity;
use crate::rule::{Rule, Strength};
use crate::text::{byte_at, byte_before, ends_token, is_word, starts_token};

pub(crate) static MAC: Rule = Rule {
    id: "mac",
    rev: 1,
    entity: Entity::Mac,
    strength: Strength::Structural,
    summary: "six pairs of hex digits joined by one kind of separator, or three groups of four joined by dots",
    matches: &["the card b4:3e:bf", ":78:84:2e drops"],
    rejects: &["the card b4:3e-bf", ":78:84:2e drops"],
};

/// Tries the notations at `start` and answers whether one was there.
pub(crate) fn try_at(scanner: &mut Scanner<'_>, start: usize) -> bool {
    let bytes = scanner.bytes();
    let len = match (byte_at(bytes, start + 2), byte_at(bytes, start + 4)) {
        (sep @ (b':' | b'-'), _) if has_shape(bytes, start, 2, sep, 17) => 17,
        (_, b'.') if has_shape(bytes, start, 4, b'.', 14) => 14,
        _ => return false,
    };
    let end = start + len;
    let after = byte_at(bytes, end);
    let goes_on = !ends_token(bytes, end)
        || (after == bytes[start + if len == 17 { 2 } else { 4 }]
            && is_word(byte_at(bytes, end + 1)));
    let before = byte_before(bytes, start);
    if goes_on
        || !starts_token(bytes, start)
        || matches!(before, b'-' | b'.') && start > 1 && is_word(bytes[start - 2])
        || before == b':' && follows_a_pair(bytes, start - 1)
    {
        return false;
    }
    let hex = || {
        bytes[start..end]
            .iter()
            .filter(|byte| byte.is_ascii_hexdigit())
    };
    let dull =
        hex().all(|byte| *byte == b'0') || hex().all(|byte| byte.eq_ignore_ascii_case(&b'f'));
    let digits_only = hex().all(u8::is_ascii_digit);
    // Three dotted groups of four decimals are figures.
    if dull || (len == 14 && digits_only) {
        return false;
    }
    scanner.push(&MAC, start, end, 0.9);
    true
}

/// Whether two hex digits that are a group of their own end at `at`: the row is longer then.
fn follows_a_pair(bytes: &[u8], at: usize) -> bool {
    at >= 2
        && bytes[at - 2..at].iter().all(u8::is_ascii_hexdigit)
        && !is_word(byte_before(bytes, at - 2))
}

fn has_shape(bytes: &[u8], start: usize, width: usize, sep: u8, len: usize) -> bool {
    bytes.get(start..start + len).is_some_and(|text| {
        text.iter().enumerate().all(|(at, byte)| {
            if at % (width + 1) == width {
                *byte == sep
            } else {
                byte.is_ascii_hexdigit()
            }
        })
    })
}

#[cfg(test)]
mod tests {
    use crate::testing::{finds, nothing};

    #[test]
    fn the_three_notations_are_found() {
        for mac in [
            "00:1A:2B:3C:4D:5E",
            "ff-24-02-f0-93-9b",
            "18-90-30-12-c9-fa",
            "001a.2b3c.4d5e",
            "aa-bb-cc-dd-ee-fa",
        ] {
            finds(&format!("NIC {mac} drops"), "MAC", mac);
            finds(&format!("{{\"mac\":\"{mac}\"}}"), "MAC", mac);
        }
    }

    #[test]
    fn broadcast_and_longer_rows_are_none() {
        for text in [
            "FF:FF:FF:FF:FF:FF",
            "00:00:00:00:00:00",
            "a1:b2:c3:d4:e5:f6:a7",
            "1:2:3:4:5:6",
        ] {
            nothing(text);
        }
    }
}
