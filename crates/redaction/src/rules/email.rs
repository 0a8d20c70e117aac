//! E-mail addresses, internationalised ones too.

use super::Scanner;
use crate::Entity;
use crate::rule::{Rule, Strength};
use crate::text::{byte_at, char_at, char_before};

pub(crate) static EMAIL: Rule = Rule {
    id: "email",
    rev: 1,
    entity: Entity::Email,
    strength: Strength::Structural,
    summary: "a local part, an @, and a domain whose last label can be a top-level domain",
    matches: &["write to jo.doe+news", "@mail.example.org today"],
    rejects: &["install pkg", "@1.2.3 and @Override today"],
};

/// Farthest an address reaches to either side of its `@`.
const REACH: usize = 160;

/// Handles the `@` at `at`; `width` is its length, three where it is written `%40`.
pub(crate) fn at(scanner: &mut Scanner<'_>, at: usize, width: usize) -> usize {
    let next = at + width;
    if scanner.userinfo_at == Some(at) {
        return next;
    }
    let text = scanner.text();
    let start = local_start(text, at);
    let Some(end) = domain_end(text, next) else {
        return next;
    };
    if start == at {
        return next;
    }
    // `git@host:path` names a host and a service, not a person.
    let is_remote = &text[start..at] == "git" && byte_at(scanner.bytes(), end) == b':';
    if !is_remote {
        scanner.push(&EMAIL, start, end, 0.95);
    }
    end
}

fn local_start(text: &str, at: usize) -> usize {
    let nearest = char_before(text, at);
    // Next to a letter of a script without spaces the whole run is the name; next to an ASCII one,
    // only letters of alphabets that put spaces between words are.
    let any_script = nearest.is_some_and(|ch| ch as u32 >= 0x590);
    let floor = at.saturating_sub(REACH);
    let mut start = at;
    while let Some(ch) = char_before(text, start) {
        // An escaped `@` is no part of a name; it begins the search of its own.
        let escaped = ch == '0' && text.as_bytes()[..start].ends_with(b"%40");
        if start <= floor || escaped || !is_local(ch, any_script) {
            break;
        }
        start -= ch.len_utf8();
    }
    let bytes = text.as_bytes();
    while start < at && is_fringe(bytes[start]) {
        // `\n` before an address in text that was escaped once too often.
        start += 1;
    }
    if start > 0
        && bytes[start - 1] == b'\\'
        && matches!(byte_at(bytes, start), b'n' | b't' | b'r')
        && start + 1 < at
    {
        start += 1;
    }
    start
}

fn is_local(ch: char, any_script: bool) -> bool {
    match ch {
        'a'..='z'
        | 'A'..='Z'
        | '0'..='9'
        | '.'
        | '_'
        | '%'
        | '+'
        | '-'
        | '\''
        | '&'
        | '~'
        | '#'
        | '!'
        | '$'
        | '*' => true,
        _ if (ch as u32) < 0x80 => false,
        _ => is_name_char(ch) && (any_script || (ch as u32) < 0x590),
    }
}

/// Letters and the marks that combine with them, no punctuation.
fn is_name_char(ch: char) -> bool {
    ch.is_alphanumeric() || matches!(ch as u32, 0x300..=0x36F | 0x900..=0xDFF | 0x1AB0..=0x1AFF)
}

fn is_fringe(byte: u8) -> bool {
    matches!(
        byte,
        b'.' | b'\'' | b'&' | b'~' | b'#' | b'!' | b'$' | b'*' | b'%' | b'-'
    )
}

/// End of the domain that starts at `from`, or `None` when there is none.
pub(crate) fn domain_end(text: &str, from: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = from;
    let mut accepted = None;
    let mut labels = 0;
    let mut known = false;
    while at - from < 255 {
        let label_end = label(text, at);
        if label_end == at {
            break;
        }
        let name = &text[at..label_end];
        // `mail@example.com.Thanks` lacks a space after its full stop.
        if known
            && name.as_bytes()[0].is_ascii_uppercase()
            && !name.bytes().all(|byte| byte.is_ascii_uppercase())
        {
            break;
        }
        labels += 1;
        // `jo@example.com-0121` lacks a space around its dash.
        if let Some((head, _)) = name.split_once('-')
            && labels >= 2
            && byte_at(bytes, label_end) != b'.'
            && super::tld::is_common(head)
        {
            return Some(at + head.len());
        }
        if labels >= 2 && is_top_level(name) {
            accepted = Some(label_end);
            known = super::tld::is_common(name);
        }
        if byte_at(bytes, label_end) != b'.' {
            break;
        }
        at = label_end + 1;
    }
    accepted
}

/// End of one label: letters, digits and inner dashes; a label that starts in ASCII stays there and
/// in the letters that languages with spaces add to it.
fn label(text: &str, from: usize) -> usize {
    let any_script = char_at(text, from).is_some_and(|ch| ch as u32 >= 0x590);
    let mut end = from;
    for ch in text[from..].chars().take(64) {
        let inside = ch.is_ascii_alphanumeric()
            || ch == '-'
            || (ch as u32 >= 0x80 && is_name_char(ch) && (any_script || (ch as u32) < 0x590));
        if !inside {
            break;
        }
        end += ch.len_utf8();
    }
    while end > from && text.as_bytes()[end - 1] == b'-' {
        end -= 1;
    }
    if text.as_bytes().get(from) == Some(&b'-') {
        from
    } else {
        end
    }
}

fn is_top_level(label: &str) -> bool {
    let lower = label.to_ascii_lowercase();
    let letters = label.chars().all(char::is_alphabetic) && label.chars().count() >= 2;
    lower.starts_with("xn--") || letters || label.chars().any(|ch| ch as u32 >= 0x590)
}

#[cfg(test)]
mod tests {
    use crate::testing::{finds, nothing};

    #[test]
    fn addresses_of_every_kind_are_found_whole() {
        for address in [
            "info@presidio.site",
            "J_Martens@sub.dom.example.com.br",
            "hans-peter+shop@company.museum",
            "o'brien@example.ie",
            "marialuísa.almeida@outlook.com",
            "info@münchen.example",
            "用户@例子.广告",
            "x@xn--bcher-kva.example",
            "1234567890@example.com",
            "_x_@y-z.co.uk",
        ] {
            finds(&format!("one is {address}."), "EMAIL", address);
            finds(&format!("<{address}>"), "EMAIL", address);
            finds(&format!("mailto:{address}?subject=hi"), "EMAIL", address);
            finds(&format!("{{\"to\":\"{address}\"}}"), "EMAIL", address);
        }
    }

    #[test]
    fn text_around_an_address_is_not_part_of_it() {
        finds("寄信到jo@example.com。謝謝", "EMAIL", "jo@example.com");
        finds("to 'jo@example.com'", "EMAIL", "jo@example.com");
        finds(
            "write jo@example.com.Thanks a lot",
            "EMAIL",
            "jo@example.com",
        );
        finds("?email=jo%40example.com&x=1", "EMAIL", "jo%40example.com");
    }

    #[test]
    fn what_has_no_domain_is_none() {
        for text in [
            "my email is info@presidio.",
            "@handle",
            "a @ b.c",
            "git@github.com:org/repo",
            "x@y",
            "npm i a@1.2.3",
        ] {
            nothing(text);
        }
    }
}
