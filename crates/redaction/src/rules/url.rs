//! Web addresses, and the credentials some of them carry.

use super::{Scanner, email, tld};
use crate::Entity;
use crate::rule::{Rule, Strength};
use crate::text::{byte_at, byte_before, char_at, count, is_word, run_end, run_start};

pub(crate) static URL: Rule = Rule {
    id: "url",
    rev: 1,
    entity: Entity::Url,
    strength: Strength::Structural,
    summary: "a web scheme and a host, up to the end of its path",
    matches: &["see https://docs.example", ".org/a?b=c."],
    rejects: &["see http://", " and a slash"],
};

pub(crate) static DOMAIN: Rule = Rule {
    id: "url-bare-domain",
    rev: 1,
    entity: Entity::Url,
    strength: Strength::Generic,
    summary: "a host name without a scheme that ends in a top-level domain no file name ends in",
    matches: &["see example", ".co.uk today"],
    rejects: &["see src/main", ".rs and self.id today"],
};

pub(crate) static USERINFO: Rule = Rule {
    id: "secret-url-userinfo",
    rev: 1,
    entity: Entity::Secret,
    strength: Strength::Structural,
    summary: "the password between the scheme and the host of a connection string",
    matches: &["use postgres://app:hunter2", "x9@db.internal/main"],
    rejects: &["use postgres://app", "@db.internal/main"],
};

const WEB: [&str; 6] = ["http", "https", "ftp", "ftps", "ws", "wss"];

/// Handles the `:` of a `://`.
pub(crate) fn at(scanner: &mut Scanner<'_>, colon: usize) -> usize {
    let bytes = scanner.bytes();
    let next = colon + 3;
    if colon < scanner.url_end {
        return next;
    }
    let start = run_start(bytes, colon, colon.saturating_sub(24), |byte| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'.' | b'-')
    });
    if start == colon {
        return next;
    }
    let end = trim(bytes, colon, stop(scanner.text(), next));
    scanner.url_end = end;
    let host = userinfo(scanner, next, end);
    let scheme = scanner.text()[start..colon].to_ascii_lowercase();
    // `thttps` in glued text still ends in the scheme.
    let web = WEB
        .iter()
        .filter(|known| scheme.ends_with(*known))
        .max_by_key(|known| known.len());
    if let Some(scheme) = web
        && has_host(&scanner.text()[host..end])
    {
        scanner.push(&URL, colon - scheme.len(), end, 0.8);
    }
    next
}

/// First byte that cannot be part of a URL.
fn stop(text: &str, from: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = from;
    while at < bytes.len() {
        match bytes[at] {
            b'"'
            | b'<'
            | b'>'
            | b'`'
            | b'|'
            | b'\\'
            | b'^'
            | b'{'
            | b'}'
            | b'\''
            | 0..=b' '
            | 0x7F => break,
            0..0x80 => at += 1,
            // Letters of scripts without spaces follow a URL without a space.
            _ => match char_at(text, at) {
                Some(ch) if ch.is_alphanumeric() && (ch as u32) < 0x2E80 => at += ch.len_utf8(),
                _ => break,
            },
        }
    }
    at
}

/// Takes punctuation that belongs to the sentence off the end.
fn trim(bytes: &[u8], from: usize, mut end: usize) -> usize {
    let in_url = |end: usize, wanted: u8| count(&bytes[from..end], wanted);
    let mut surplus = in_url(end, b')').saturating_sub(in_url(end, b'('));
    let mut square = in_url(end, b']').saturating_sub(in_url(end, b'['));
    while end > from {
        match bytes[end - 1] {
            b'.' | b',' | b';' | b':' | b'!' | b'?' | b'*' | b'(' | b'[' | b'_' => {}
            b')' if surplus > 0 => surplus -= 1,
            b']' if square > 0 => square -= 1,
            _ => break,
        }
        end -= 1;
    }
    end
}

/// Reports the password in front of the host and answers where the host starts.
fn userinfo(scanner: &mut Scanner<'_>, from: usize, end: usize) -> usize {
    let bytes = scanner.bytes();
    let limit = run_end(bytes, from, 512, |byte| !matches!(byte, b'/' | b'?' | b'#'));
    let authority = &bytes[from..limit.min(end.max(from))];
    let Some(at) = memchr::memrchr(b'@', authority) else {
        return from;
    };
    scanner.userinfo_at = Some(from + at);
    if let Some(colon) = memchr::memchr(b':', &authority[..at]) {
        let (start, stop) = (from + colon + 1, from + at);
        if stop > start && !super::value::is_placeholder(&scanner.text()[start..stop]) {
            scanner.push(&USERINFO, start, stop, 0.9);
        }
    }
    from + at + 1
}

fn has_host(rest: &str) -> bool {
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let authority = &rest[..end];
    let host = authority
        .rsplit_once(':')
        .map_or(authority, |(host, _)| host);
    let dotted = host.contains('.')
        && host
            .chars()
            .all(|ch| ch.is_alphanumeric() || matches!(ch, '.' | '-' | '_'));
    dotted || host == "localhost" || authority.starts_with('[')
}

/// Handles a dot between two letters: a host name without a scheme.
pub(crate) fn dot(scanner: &mut Scanner<'_>, at: usize) -> usize {
    let bytes = scanner.bytes();
    let start = run_start(bytes, at, at.saturating_sub(63), |byte| {
        byte.is_ascii_alphanumeric() || byte == b'-'
    });
    let end = run_end(bytes, at, 253, |byte| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.')
    });
    let inside = at < scanner.url_end;
    let before = byte_before(bytes, start);
    if inside
        || start == at
        || matches!(
            before,
            b'@' | b'/' | b'.' | b'_' | b'\\' | b'$' | b'-' | b'%'
        )
        || before >= 0x80
    {
        return end;
    }
    let Some(name_end) = email::domain_end(&scanner.text()[..end], start) else {
        return end;
    };
    let after = byte_at(bytes, name_end);
    let last = scanner.text()[start..name_end]
        .rsplit('.')
        .next()
        .unwrap_or("");
    let www = scanner.text()[start..name_end]
        .to_ascii_lowercase()
        .starts_with("www.");
    let goes_on = matches!(after, b'@' | b'(' | b'[' | b'=' | b'_')
        || is_word(after)
        || after == b'.' && is_word(byte_at(bytes, name_end + 1));
    // Initials before an abbreviation, as in `H.No`, are no host.
    let named = at - start > 1 && bytes[start..at].iter().any(u8::is_ascii_alphabetic);
    if goes_on || !named || !(tld::is_common(last) || www) {
        return end;
    }
    let stop = if matches!(after, b'/' | b'?' | b':')
        && (after != b':' || byte_at(bytes, name_end + 1).is_ascii_digit())
    {
        trim(bytes, start, stop(scanner.text(), name_end))
    } else {
        name_end
    };
    scanner.url_end = scanner.url_end.max(stop);
    scanner.push(&DOMAIN, start, stop, 0.5);
    end
}

#[cfg(test)]
mod tests {
    use crate::testing::{finds, nothing};

    #[test]
    fn web_addresses_end_where_the_sentence_goes_on() {
        for url in [
            "https://www.Example.co.nz/",
            "http://example.de/a/b?c=1&d=two",
            "https://x.org:8443/p#sec",
            "http://localhost:3000/a",
            "https://en.wikipedia.org/wiki/A_(b)",
            "ftp://files.example.org/x",
        ] {
            for text in [
                format!("see {url}."),
                format!("[x]({url}) or"),
                format!("<{url}>"),
                format!("\"{url}\","),
            ] {
                finds(&text, "URL", url);
            }
        }
        finds(
            "請看https://example.com，謝謝",
            "URL",
            "https://example.com",
        );
    }

    #[test]
    fn bare_domains_are_found_and_file_names_are_not() {
        finds(
            "my domains: microsoft.com google.co.il",
            "URL",
            "microsoft.com",
        );
        finds(
            "my domains: microsoft.com google.co.il",
            "URL",
            "google.co.il",
        );
        for text in [
            "microsoft.",
            "src/main.py",
            "self.id",
            "user.name",
            "notes.txt",
            "e.g. this",
        ] {
            nothing(text);
        }
    }

    #[test]
    fn a_password_in_a_connection_string_is_a_secret_and_no_address() {
        let text = ["use mysql://root:", "s3cr3tPw", "@db.example.com:3306/x"].concat();
        finds(&text, "SECRET", "s3cr3tPw");
        assert!(!crate::testing::types(&text).contains(&"EMAIL".to_owned()));
    }
}
