//! Folds look-alike characters to ASCII, one code point at a time, with a map back to the original.
//!
//! NFKC is not used: it changes lengths and meaning. Only what people use to write a number or an
//! address in another way is folded; letters of other scripts stay as they are.

use std::borrow::Cow;

/// A text as the rules read it, and the way back to the text as it was written.
pub(crate) struct Folded<'a> {
    original: &'a str,
    text: Cow<'a, str>,
    /// For every byte of `text` the original offset of the character it came from; empty when the
    /// text needed no folding.
    map: Vec<u32>,
}

impl<'a> Folded<'a> {
    pub(crate) fn new(original: &'a str) -> Self {
        if original.is_ascii() {
            return Self {
                original,
                text: Cow::Borrowed(original),
                map: Vec::new(),
            };
        }
        let mut text = String::with_capacity(original.len());
        let mut map = Vec::with_capacity(original.len());
        for (at, ch) in original.char_indices() {
            let Some(folded) = fold_char(ch) else {
                continue;
            };
            text.push(folded);
            let at = u32::try_from(at).unwrap_or(u32::MAX);
            map.resize(text.len(), at);
        }
        Self {
            original,
            text: Cow::Owned(text),
            map,
        }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The original byte range of a folded range, widened to whole code points. A deleted character
    /// inside the range is inside the answer, one at either edge is not.
    pub(crate) fn original_range(&self, start: usize, end: usize) -> (usize, usize) {
        if self.map.is_empty() || start >= end {
            return (start, end);
        }
        let first = self.map[start] as usize;
        let last = self.map[end - 1] as usize;
        let width = self.original[last..]
            .chars()
            .next()
            .map_or(0, char::len_utf8);
        (first, last + width)
    }
}

/// The character the rules see, or `None` for one that is only there to be invisible.
fn fold_char(ch: char) -> Option<char> {
    let code = ch as u32;
    if code < 0x80 {
        return Some(ch);
    }
    match code {
        0x00AD
        | 0x034F
        | 0x061C
        | 0x180E
        | 0x200B..=0x200F
        | 0x202A..=0x202E
        | 0x2060..=0x2064
        | 0x2066..=0x2069
        | 0x20E3
        | 0xFE00..=0xFE0F
        | 0xFEFF => None,
        0x00A0 | 0x1680 | 0x2000..=0x200A | 0x202F | 0x205F | 0x3000 => Some(' '),
        0x2010..=0x2015 | 0x2212 | 0xFE58 | 0xFE63 => Some('-'),
        0xFF01..=0xFF5E => char::from_u32(code - 0xFEE0),
        _ => Some(digit_value(code).map_or(ch, |value| (b'0' + value) as char)),
    }
}

/// First code point of each run of ten decimal digits (general category Nd), ascending.
const DIGIT_ZEROS: [u32; 76] = [
    0x660, 0x6F0, 0x7C0, 0x966, 0x9E6, 0xA66, 0xAE6, 0xB66, 0xBE6, 0xC66, 0xCE6, 0xD66, 0xDE6,
    0xE50, 0xED0, 0xF20, 0x1040, 0x1090, 0x17E0, 0x1810, 0x1946, 0x19D0, 0x1A80, 0x1A90, 0x1B50,
    0x1BB0, 0x1C40, 0x1C50, 0xA620, 0xA8D0, 0xA900, 0xA9D0, 0xA9F0, 0xAA50, 0xABF0, 0xFF10,
    0x104A0, 0x10D30, 0x10D40, 0x11066, 0x110F0, 0x11136, 0x111D0, 0x112F0, 0x11450, 0x114D0,
    0x11650, 0x116C0, 0x116D0, 0x116DA, 0x11730, 0x118E0, 0x11950, 0x11BF0, 0x11C50, 0x11D50,
    0x11DA0, 0x11DE0, 0x11F50, 0x16130, 0x16A60, 0x16AC0, 0x16B50, 0x16D70, 0x1CCF0, 0x1D7CE,
    0x1D7D8, 0x1D7E2, 0x1D7EC, 0x1D7F6, 0x1E140, 0x1E2F0, 0x1E4F0, 0x1E5F1, 0x1E950, 0x1FBF0,
];

fn digit_value(code: u32) -> Option<u8> {
    if code < 0x660 {
        return None;
    }
    let after = DIGIT_ZEROS.partition_point(|zero| *zero <= code);
    let zero = *DIGIT_ZEROS.get(after.checked_sub(1)?)?;
    let value = code - zero;
    u8::try_from(value).ok().filter(|value| *value < 10)
}

#[cfg(test)]
mod tests {
    use super::{Folded, fold_char};

    #[test]
    fn every_decimal_digit_of_unicode_becomes_ascii_and_no_letter_does() {
        let digit = regex::Regex::new(r"^\p{Nd}$").unwrap();
        for ch in ('\u{80}'..=char::MAX).filter(|ch| !ch.is_ascii()) {
            let to_digit = fold_char(ch).is_some_and(|ch| ch.is_ascii_digit());
            // A block that is newer than the tables at hand is a digit to us and unassigned to them.
            let expected = digit.is_match(ch.encode_utf8(&mut [0; 4]));
            assert!(
                to_digit || !expected,
                "U+{:04X} is a decimal digit",
                ch as u32
            );
            assert!(
                !to_digit || !ch.is_alphabetic(),
                "U+{:04X} is a letter",
                ch as u32
            );
        }
    }

    #[test]
    fn a_zero_width_character_is_inside_a_match_but_not_beside_it() {
        let folded = Folded::new("\u{200b}1\u{200b}\u{ff12}\u{200b}");
        assert_eq!(folded.text(), "12");
        assert_eq!(folded.original_range(0, 2), (3, 10));
    }

    #[test]
    fn letters_of_other_scripts_stay() {
        assert_eq!(Folded::new("Привет 電話").text(), "Привет 電話");
    }
}
