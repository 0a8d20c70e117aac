//! What text may be stored, decided before any store is asked (T-60).

use unicode_segmentation::UnicodeSegmentation;

/// Why a text is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TextFault {
    /// Postgres can keep no NUL, and no provider may differ from it.
    #[error("the text holds a NUL character (U+0000); remove it or send U+FFFD in its place")]
    Nul,
    /// Fewer bytes than asked for, or nothing but white space where something is needed.
    #[error("the text is empty or blank; at least {min} byte is needed")]
    Blank {
        /// The least number of bytes.
        min: usize,
    },
    /// More bytes than the limit.
    #[error("the text has {bytes} bytes; the limit is {max}")]
    TooLong {
        /// What was sent.
        bytes: usize,
        /// What is allowed.
        max: usize,
    },
}

/// Checks length in bytes and NUL. With `min > 0` a text of white space alone is blank: an empty
/// filter must never mean "everyone". The text itself is never changed.
pub fn check_text(text: &str, min: usize, max: usize) -> Result<(), TextFault> {
    if text.len() > max {
        return Err(TextFault::TooLong {
            bytes: text.len(),
            max,
        });
    }
    if text.contains('\0') {
        return Err(TextFault::Nul);
    }
    if min > 0 && (text.len() < min || text.trim().is_empty()) {
        return Err(TextFault::Blank { min });
    }
    Ok(())
}

/// The longest prefix with at most `graphemes` user-perceived characters and at most `bytes` bytes.
/// A family emoji, a flag or a letter with its marks stays whole or goes.
pub fn truncate_graphemes(text: &str, graphemes: usize, bytes: usize) -> &str {
    let mut end = 0;
    for (start, grapheme) in text.grapheme_indices(true).take(graphemes) {
        let after = start + grapheme.len();
        if after > bytes {
            break;
        }
        end = after;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_exact_at_its_edge() {
        assert_eq!(check_text("abc", 1, 4), Ok(()));
        assert_eq!(check_text("abcd", 1, 4), Ok(()));
        assert_eq!(
            check_text("abcde", 1, 4),
            Err(TextFault::TooLong { bytes: 5, max: 4 })
        );
        assert_eq!(
            check_text("é", 1, 1),
            Err(TextFault::TooLong { bytes: 2, max: 1 })
        );
    }

    #[test]
    fn blank_is_refused_only_where_something_is_needed() {
        assert_eq!(check_text("", 0, 4), Ok(()));
        assert_eq!(check_text(" ", 0, 4), Ok(()));
        assert_eq!(check_text("", 1, 4), Err(TextFault::Blank { min: 1 }));
        assert_eq!(check_text(" \t", 1, 4), Err(TextFault::Blank { min: 1 }));
    }

    // failures.md 26
    #[test]
    fn a_cut_never_splits_what_a_reader_sees_as_one_character() {
        let family = "👨‍👩‍👧‍👦";
        let flag = "🇨🇭";
        let marked = "e\u{301}\u{323}";
        for whole in [family, flag, marked] {
            let text = format!("a{whole}b");
            assert_eq!(truncate_graphemes(&text, 1, 100), "a");
            assert_eq!(truncate_graphemes(&text, 2, 100), format!("a{whole}"));
            assert_eq!(truncate_graphemes(&text, 9, whole.len()), "a");
        }
    }

    proptest::proptest! {
        #[test]
        fn a_cut_is_a_prefix_within_both_budgets(text in ".{0,60}", g in 0usize..40, b in 0usize..90) {
            let cut = truncate_graphemes(&text, g, b);
            proptest::prop_assert!(text.starts_with(cut));
            proptest::prop_assert!(cut.len() <= b);
            proptest::prop_assert!(cut.graphemes(true).count() <= g);
        }
    }
}
