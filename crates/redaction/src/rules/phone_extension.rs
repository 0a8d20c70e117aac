//! Extensions behind telephone numbers.

use crate::text::{ends_token, run_end};

/// Whether an extension follows the number that ends at `end`.
pub(crate) fn has_extension(bytes: &[u8], end: usize) -> bool {
    extension_end(bytes, end).is_some()
}

/// `x123`, `ext. 123`, `#123` and their like, up to six digits.
pub(crate) fn extension_end(bytes: &[u8], end: usize) -> Option<usize> {
    const WORDS: [&[u8]; 9] = [
        b"extension",
        b"ext.",
        b"ext",
        b"ex.",
        b"xtn",
        b"x.",
        b"x",
        b"poste",
        b"#",
    ];
    let mut at = run_end(bytes, end, 2, |byte| byte == b' ' || byte == b',');
    let word = WORDS.iter().find(|word| {
        bytes
            .get(at..at + word.len())
            .is_some_and(|here| here.eq_ignore_ascii_case(word))
    })?;
    at = run_end(bytes, at + word.len(), 2, |byte| {
        matches!(byte, b' ' | b':')
    });
    let stop = run_end(bytes, at, 7, |byte| byte.is_ascii_digit());
    (stop > at && stop - at <= 6 && ends_token(bytes, stop)).then_some(stop)
}
