//! Takes hidden system blocks out of a text that is shown to a model.

const TAG: &str = "memory-system";

enum Token {
    Open,
    Close,
    SelfClosed,
}

/// The text without system blocks. Nested blocks go as one, an unclosed one takes the rest with it, stray
/// closers vanish, case, attributes and inner spaces do not matter, and what a removal puts together
/// is looked at again, so no tag survives (M-30 … M-46).
pub(super) fn strip_system(text: &str) -> String {
    let mut text = text.to_owned();
    loop {
        let stripped = strip_once(&text);
        if stripped.len() == text.len() {
            return stripped.trim().to_owned();
        }
        text = stripped;
    }
}

fn strip_once(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut depth = 0usize;
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        let (before, tail) = rest.split_at(start);
        if depth == 0 {
            kept.push_str(before);
        }
        let Some((token, after)) = token(tail) else {
            if depth == 0 {
                kept.push('<');
            }
            rest = &tail[1..];
            continue;
        };
        match token {
            Token::Open => depth += 1,
            Token::Close => depth = depth.saturating_sub(1),
            Token::SelfClosed => {}
        }
        // The gap after a block belongs to it, unless a stray closer only stood between words.
        rest = match token {
            Token::Close if depth == 0 => {
                after.trim_start_matches(|c: char| c.is_ascii_whitespace())
            }
            _ => after,
        };
    }
    if depth == 0 {
        kept.push_str(rest);
    }
    kept
}

/// A tag at the start of `text`, and what follows it.
fn token(text: &str) -> Option<(Token, &str)> {
    let inner = text.strip_prefix('<')?.trim_start();
    let (closing, inner) = match inner.strip_prefix('/') {
        Some(inner) => (true, inner.trim_start()),
        None => (false, inner),
    };
    let name = inner
        .get(..TAG.len())
        .filter(|name| name.eq_ignore_ascii_case(TAG))?;
    let attributes = &inner[name.len()..];
    if attributes.starts_with(|c: char| c.is_alphanumeric() || c == '-' || c == '_') {
        return None;
    }
    let end = attributes.find('>')?;
    let token = match (closing, attributes[..end].trim_end().ends_with('/')) {
        (true, _) => Token::Close,
        (false, true) => Token::SelfClosed,
        (false, false) => Token::Open,
    };
    Some((token, &attributes[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::strip_system;

    fn stripped(text: &str) -> String {
        strip_system(&text.replace('%', "memory-system"))
    }

    // M-30 … M-46
    #[test]
    fn no_system_block_survives() {
        for (text, expected) in [
            ("Hello world", "Hello world"),
            ("<%>x</%>", ""),
            ("<%>hidden</%>\n\nvisible text", "visible text"),
            ("<%>a</%> middle <%>b</%> end", "middle end"),
            ("A<%>x</%>\n\nB", "AB"),
            ("a <%>l1\nl2</%>b", "a b"),
            ("  \n hi \n ", "hi"),
            ("<%>outer <%>inner</%> tail</%> visible", "visible"),
            ("hi <%>never closed secret", "hi"),
            ("oops </%> stray close", "oops stray close"),
            ("<MEMORY-System>x</memory-SYSTEM> y", "y"),
            ("<% lang=\"de\">x</%> y, < % >x</ % > y", "y, y"),
            ("<memory-sys<%>x</%>tem>secret</%>vis", ""),
            ("</memory<%>x</%>-system>", ""),
            ("<%>a</%><%>b", ""),
            ("a<%/>b", "ab"),
            ("&lt;memory-system&gt;x", "&lt;memory-system&gt;x"),
        ] {
            assert_eq!(stripped(text), expected, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn stripping_is_idempotent(parts in proptest::collection::vec(
            proptest::sample::select(vec!["<%>", "</%>", "<", ">", "/", "%", "a", " ", "<%/>", "mem", "ory-system", "é"]), 0..24)) {
            let once = stripped(&parts.concat());
            proptest::prop_assert_eq!(strip_system(&once), once.clone());
            proptest::prop_assert!(!once.to_ascii_lowercase().contains("<memory-system>"));
        }
    }
}
