//! Cuts text around digits into clumps of groups, and asks the number rules in turn.

use super::{Scanner, card, crypto, iban, ip, mac, phone, ssn, token};
use crate::text::{byte_at, byte_before, ends_token, is_word, run_end, run_start, starts_token};

/// Groups in one clump. A longer row of numbers continues in the next clump.
pub(crate) const MAX_GROUPS: usize = 12;

/// What stands between two groups of digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sep {
    None,
    Space,
    Dash,
    Dot,
    Slash,
    Paren,
}

/// One run of digits and what follows it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) sep: Sep,
}

impl Group {
    pub(crate) fn len(&self) -> usize {
        self.end - self.start
    }
}

/// Groups of digits that may belong together.
pub(crate) struct Clump {
    groups: [Group; MAX_GROUPS],
    len: usize,
    /// A letter follows the last digit directly.
    pub(crate) glued: bool,
}

impl Clump {
    pub(crate) fn groups(&self) -> &[Group] {
        &self.groups[..self.len]
    }

    pub(crate) fn end(&self) -> usize {
        self.groups[self.len - 1].end
    }

    fn read(bytes: &[u8], start: usize) -> Self {
        let mut groups = [Group {
            start,
            end: start,
            sep: Sep::None,
        }; MAX_GROUPS];
        let mut len = 0;
        let mut at = start;
        loop {
            let end = run_end(bytes, at, usize::MAX, |byte| byte.is_ascii_digit());
            groups[len] = Group {
                start: at,
                end,
                sep: Sep::None,
            };
            len += 1;
            let Some((sep, next)) = separator(bytes, end) else {
                break;
            };
            if len == MAX_GROUPS {
                break;
            }
            groups[len - 1].sep = sep;
            at = next;
        }
        let end = groups[len - 1].end;
        Self {
            groups,
            len,
            glued: !ends_token(bytes, end),
        }
    }

    /// The digits of groups `from..to`, as values, or `None` when there are more than fit.
    pub(crate) fn digits(&self, bytes: &[u8], from: usize, to: usize) -> Digits {
        let mut digits = Digits::default();
        for group in &self.groups[from..to] {
            for byte in &bytes[group.start..group.end] {
                digits.push(byte - b'0');
            }
        }
        digits
    }
}

/// Up to 40 digits without an allocation; more are counted but not kept.
#[derive(Clone, Copy)]
pub(crate) struct Digits {
    values: [u8; 40],
    len: usize,
}

impl Default for Digits {
    fn default() -> Self {
        Self {
            values: [0; 40],
            len: 0,
        }
    }
}

impl Digits {
    fn push(&mut self, value: u8) {
        if let Some(slot) = self.values.get_mut(self.len) {
            *slot = value;
        }
        self.len += 1;
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        &self.values[..self.len.min(40)]
    }

    /// The first `count` digits as one number.
    pub(crate) fn prefix(&self, count: usize) -> u32 {
        self.as_slice()
            .iter()
            .take(count)
            .fold(0, |sum, digit| sum * 10 + u32::from(*digit))
    }
}

/// The separator that starts at `at` and where the next group begins.
fn separator(bytes: &[u8], at: usize) -> Option<(Sep, usize)> {
    let end = run_end(bytes, at, 4, |byte| {
        matches!(byte, b' ' | b'-' | b'.' | b'/' | b'(' | b')')
    });
    if !byte_at(bytes, end).is_ascii_digit() {
        return None;
    }
    let sep = match &bytes[at..end] {
        b" " | b"  " => Sep::Space,
        b"-" | b" - " | b" -" | b"- " => Sep::Dash,
        b"." => Sep::Dot,
        b"/" | b" / " | b"/ " => Sep::Slash,
        b")" | b") " | b")-" | b"(" | b" (" | b"-(" | b") (" | b")(" | b") - " | b")." | b".("
        | b")/" => Sep::Paren,
        _ => return None,
    };
    Some((sep, end))
}

/// Handles the digit at `at` and answers where the trigger pass goes on.
pub(crate) fn at(scanner: &mut Scanner<'_>, at: usize) -> usize {
    let bytes = scanner.bytes();
    if mac::try_at(scanner, at) {
        return at + 12;
    }
    if let Some(end) = iban::before_digit(scanner, at) {
        return end;
    }
    if !starts_token(bytes, at) {
        return token::word_with_digit(scanner, at);
    }
    let clump = Clump::read(bytes, at);
    let count = clump.groups().len();
    if count == 1 && clump.glued {
        if let Some(end) = phone::at(scanner, &clump, 0) {
            return end;
        }
        crypto::word(scanner, at);
        return token::word_with_digit(scanner, at);
    }
    let mut group = 0;
    while group < count {
        if let Some(end) = rules_at(scanner, &clump, group) {
            // A rule may take an extension beyond the clump.
            if end >= clump.end() {
                return end;
            }
            while group < count && clump.groups()[group].start < end {
                group += 1;
            }
        } else {
            group += 1;
        }
    }
    if clump.glued {
        token::word_with_digit(scanner, clump.end())
    } else {
        clump.end()
    }
}

/// Asks the rules in order of certainty; the first that takes the groups keeps them.
fn rules_at(scanner: &mut Scanner<'_>, clump: &Clump, group: usize) -> Option<usize> {
    ip::v4(scanner, clump, group)
        .or_else(|| card::at(scanner, clump, group))
        .or_else(|| ssn::at(scanner, clump, group))
        .or_else(|| phone::at(scanner, clump, group))
}

/// Whether the number is part of something larger: a decimal, an amount, a hex id.
pub(crate) fn is_embedded(bytes: &[u8], start: usize, end: usize) -> bool {
    joined_before(bytes, start) || joined_after(bytes, end)
}

/// Whether what stands before the number makes it a part of something larger.
pub(crate) fn joined_before(bytes: &[u8], start: usize) -> bool {
    let two_before = if start >= 2 { bytes[start - 2] } else { 0 };
    match byte_before(bytes, start) {
        b'.' | b',' => two_before.is_ascii_digit(),
        b'-' => is_word(two_before) && !follows_a_word(bytes, start - 1),
        b'$' | b'@' => true,
        _ => !starts_token(bytes, start),
    }
}

/// Whether the letters that end at `at` are a word, as in `Fax-0121`, and not a part of an id.
fn follows_a_word(bytes: &[u8], at: usize) -> bool {
    let start = run_start(bytes, at, at.saturating_sub(16), |byte| {
        byte.is_ascii_alphabetic()
    });
    at - start >= 2
        && starts_token(bytes, start)
        && bytes[start..at]
            .iter()
            .any(|byte| !byte.is_ascii_hexdigit())
}

/// Whether what stands behind the number makes it a part of something larger.
pub(crate) fn joined_after(bytes: &[u8], end: usize) -> bool {
    let after = byte_at(bytes, end);
    let two_after = byte_at(bytes, end + 1);
    match after {
        b'%' => true,
        b'.' | b',' => two_after.is_ascii_digit(),
        b'-' => {
            let hex = run_end(bytes, end + 1, 12, |byte| byte.is_ascii_hexdigit());
            let len = hex - end - 1;
            two_after.is_ascii_digit() || (len == 4 || len == 12) && ends_token(bytes, hex)
        }
        _ => !ends_token(bytes, end),
    }
}
