//! Secrets that are known by their own shape: provider tokens, signed tokens, key blocks.

use super::Scanner;
use super::token_table::{Body, Shape};
use crate::Entity;
use crate::rule::{Rule, Strength};
use crate::text::{
    byte_at, byte_before, count, ends_token, is_word, run_end, run_start, starts_token,
};

pub(crate) static TOKEN: Rule = Rule {
    id: "secret-provider-token",
    rev: 2,
    entity: Entity::Secret,
    strength: Strength::Validated,
    summary: "a provider's prefix and as many letters of its alphabet as its tokens have",
    matches: &["use gh", "p_16C7e42F292c6912E7", "710c838347Ae178B4a now"],
    rejects: &["use gh", "p_short and sk", "-learn now"],
};

pub(crate) static JWT: Rule = Rule {
    id: "secret-jwt",
    rev: 1,
    entity: Entity::Secret,
    strength: Strength::Validated,
    summary: "a signed or encrypted JSON web token: base64url parts joined by dots, the first a JSON object",
    matches: &[
        "use ey",
        "JhbGciOiJIUzI1NiJ9.ey",
        "JzdWIiOiIxMjM0In0.dBjftJeZ4CVPmB92K27u now",
    ],
    rejects: &["use ey", "JhbGci now"],
};

pub(crate) static KEY_BLOCK: Rule = Rule {
    id: "secret-private-key",
    rev: 1,
    entity: Entity::Secret,
    strength: Strength::Validated,
    summary: "a PEM or PGP private key, from its first line to its last, or to the end when that is missing",
    matches: &[
        "-----BEGIN RSA PRIVATE",
        " KEY-----\nMIIEow\n-----END RSA PRIVATE",
        " KEY-----",
    ],
    rejects: &[
        "-----BEGIN PUBLIC",
        " KEY-----\nMIIEow\n-----END PUBLIC",
        " KEY-----",
    ],
};

pub(crate) static DOTTED: Rule = Rule {
    id: "secret-bot-token",
    rev: 1,
    entity: Entity::Secret,
    strength: Strength::Validated,
    summary: "tokens without a telling prefix but with a structure: Discord, Telegram, Twilio, Mailchimp, Airtable, Azure",
    matches: &["use 110201543:AAHdqTcvCH1", "vGWJxfSeofSAs0K5PALDsaw now"],
    rejects: &["use 110201543:AA", "Hd now"],
};

/// Handles the prefix of these shapes seen at `start`; answers where a token ends.
pub(crate) fn prefixed(
    scanner: &mut Scanner<'_>,
    start: usize,
    shapes: &[&'static Shape],
) -> Option<usize> {
    let end = shapes
        .iter()
        .find_map(|shape| shaped(scanner, start, shape))?;
    // A hook is a whole address.
    let schemes = [&b"https://"[..], b"http://"];
    let scheme = schemes
        .into_iter()
        .find(|scheme| scanner.bytes()[..start].ends_with(scheme));
    scanner.push(&TOKEN, start - scheme.map_or(0, <[u8]>::len), end, 1.0);
    Some(end)
}

fn shaped(scanner: &mut Scanner<'_>, start: usize, shape: &Shape) -> Option<usize> {
    let bytes = scanner.bytes();
    let Shape(_provider, prefix, body, shortest, longest) = shape;
    let from = start + prefix.len();
    let host = prefix.contains('/') && prefix.contains('.');
    let before = byte_before(bytes, start);
    let glued =
        is_word(before) && !starts_token(bytes, start) || before == b'-' && prefix.len() < 6;
    if &bytes[start..from] != prefix.as_bytes() || (glued && !host) {
        return None;
    }
    let mut end = body_end(scanner, from, *body);
    while end > from && matches!(bytes[end - 1], b'.' | b'-') {
        end -= 1;
    }
    let len = end - from;
    let whole = (*shortest..=*longest).contains(&len) && ends_token(bytes, end);
    (whole && is_random(&bytes[from..end], *body)).then_some(end)
}

/// End of the run of this alphabet; a run is read once however many prefixes it holds.
fn body_end(scanner: &mut Scanner<'_>, from: usize, body: Body) -> usize {
    let bytes = scanner.bytes();
    let known = &mut scanner.body_ends[body as usize];
    if !(known.0..known.1).contains(&from) {
        *known = (
            from,
            run_end(bytes, from, usize::MAX, |byte| body.has(byte)),
        );
    }
    known.1
}

/// Whether a body looks drawn by lot: some digits among letters, and not a row of one character. A long one
/// of capitals alone is no word either.
fn is_random(body: &[u8], alphabet: Body) -> bool {
    let digits = body.iter().filter(|byte| byte.is_ascii_digit()).count();
    let upper = body.iter().filter(|byte| byte.is_ascii_uppercase()).count();
    let lower = body.iter().filter(|byte| byte.is_ascii_lowercase()).count();
    distinct(body) >= 6.min(body.len() / 2)
        && (digits > 0 || upper > 1 && lower > 1 || alphabet == Body::Upper && upper >= 16)
}

/// How many different bytes there are.
pub(crate) fn distinct(bytes: &[u8]) -> usize {
    let mut seen = [false; 256];
    bytes
        .iter()
        .filter(|byte| !std::mem::replace(&mut seen[usize::from(**byte)], true))
        .count()
}

/// Handles `eyJ` seen at `start`.
pub(crate) fn jwt(scanner: &mut Scanner<'_>, start: usize) -> Option<usize> {
    let bytes = scanner.bytes();
    if !bytes[start..].starts_with(b"eyJ") {
        return None;
    }
    let end = run_end(bytes, start, usize::MAX, |byte| Body::Dotted.has(byte));
    let end = run_start(bytes, end, start, |byte| byte == b'.');
    let parts = count(&bytes[start..end], b'.');
    let free = starts_token(bytes, start);
    let first = bytes[start..end]
        .iter()
        .position(|byte| *byte == b'.')
        .unwrap_or(0);
    if free && (parts == 2 || parts == 4) && first >= 10 && end - start >= 36 {
        scanner.push(&JWT, start, end, 1.0);
    }
    Some(end)
}

/// Handles `-----BEGIN ` (or the `PuTTY` header) seen at `start`; answers where the block ends.
pub(crate) fn key_block(scanner: &mut Scanner<'_>, start: usize) -> usize {
    let bytes = scanner.bytes();
    let title_end = run_end(bytes, start + 11, 64, |byte| {
        byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' '
    });
    let title = &bytes[start + 11..title_end];
    if !title.ends_with(b"PRIVATE KEY") && !title.ends_with(b"PRIVATE KEY BLOCK") {
        return title_end;
    }
    // Without a last line everything that looks like its body is taken: a cut-off key is a key.
    let last = if scanner.no_key_end {
        None
    } else {
        memchr::memmem::find(&bytes[title_end..], b"-----END ")
    };
    scanner.no_key_end = last.is_none();
    let end = match last {
        Some(last) => {
            let name = run_end(bytes, title_end + last + 9, 64, |byte| {
                byte != b'-' && byte != b'\n'
            });
            run_end(bytes, name, 5, |byte| byte == b'-')
        }
        None => run_end(bytes, title_end, usize::MAX, |byte| {
            byte.is_ascii_alphanumeric()
                || matches!(
                    byte,
                    b'+' | b'/' | b'=' | b'-' | b'\n' | b'\r' | b'\\' | b':' | b',' | b' '
                )
        }),
    };
    scanner.push(&KEY_BLOCK, start, end, 1.0);
    end
}

/// Handles a digit inside a word once for the whole word; answers where the word ends.
pub(crate) fn word_with_digit(scanner: &mut Scanner<'_>, at: usize) -> usize {
    let bytes = scanner.bytes();
    let in_word = |byte: u8| is_word(byte) || byte == b'-';
    let start = run_start(
        bytes,
        at,
        scanner.word_end.min(at).max(at.saturating_sub(128)),
        in_word,
    );
    let end = run_end(bytes, at, usize::MAX, is_word);
    scanner.word_end = end;
    // Base64 of decimal digits starts so: a bot's id, a time, a signature.
    if matches!(bytes[start], b'M' | b'N' | b'O')
        && byte_at(bytes, end) == b'.'
        && (18..=40).contains(&(end - start))
    {
        discord(scanner, start);
    }
    let word = run_start(bytes, at, start, is_word);
    match end - word {
        32 => mailchimp(scanner, word, end),
        34 if is_twilio(&bytes[word..end]) => scanner.push(&DOTTED, word, end, 0.9),
        17 if bytes[word..].starts_with(b"pat") && byte_at(bytes, end) == b'.' => {
            airtable(scanner, word, end);
        }
        _ => {}
    }
    end
}

fn is_twilio(word: &[u8]) -> bool {
    matches!(&word[..2], b"SK" | b"AC") && word[2..].iter().all(u8::is_ascii_hexdigit)
}

fn airtable(scanner: &mut Scanner<'_>, start: usize, dot: usize) {
    let bytes = scanner.bytes();
    let end = run_end(bytes, dot + 1, 65, |byte| byte.is_ascii_hexdigit());
    if end - dot - 1 == 64 && ends_token(bytes, end) {
        scanner.push(&DOTTED, start, end, 1.0);
    }
}

fn discord(scanner: &mut Scanner<'_>, start: usize) {
    let bytes = scanner.bytes();
    let end = run_end(bytes, start, 96, |byte| Body::Dotted.has(byte));
    let mut parts = bytes[start..end]
        .split(|byte| *byte == b'.')
        .map(<[u8]>::len);
    let lengths = (parts.next(), parts.next(), parts.next(), parts.next());
    if matches!(lengths, (Some(23..=28), Some(6), Some(27..=38), None))
        && starts_token(bytes, start)
    {
        scanner.push(&DOTTED, start, end, 1.0);
    }
}

fn mailchimp(scanner: &mut Scanner<'_>, start: usize, end: usize) {
    let bytes = scanner.bytes();
    let tail = bytes.get(end..end + 3) == Some(b"-us");
    let stop = run_end(bytes, end + 3, 3, |byte| byte.is_ascii_digit());
    if tail
        && end - start == 32
        && stop > end + 3
        && bytes[start..end].iter().all(u8::is_ascii_hexdigit)
    {
        scanner.push(&DOTTED, start, stop, 1.0);
    }
}

/// Handles `:AA` at `colon`: a Telegram bot's id before it, its key behind.
pub(crate) fn telegram(scanner: &mut Scanner<'_>, colon: usize) {
    let bytes = scanner.bytes();
    let start = run_start(bytes, colon, colon.saturating_sub(12), |byte| {
        byte.is_ascii_digit()
    });
    let end = run_end(bytes, colon + 1, 48, |byte| Body::Url.has(byte));
    let id = colon - start;
    // In `…/bot<token>/` a word stands directly before the id.
    let free = starts_token(bytes, start) || bytes[..start].ends_with(b"bot");
    if (8..=11).contains(&id) && (34..=36).contains(&(end - colon - 1)) && free {
        scanner.push(&DOTTED, start, end, 1.0);
    }
}

/// Handles `Q~` at `at`: the mark inside an Azure client secret.
pub(crate) fn azure(scanner: &mut Scanner<'_>, at: usize) {
    let bytes = scanner.bytes();
    let inside = |byte: u8| Body::Dotted.has(byte) || byte == b'~';
    let Some(start) = at.checked_sub(4) else {
        return;
    };
    let mut end = run_end(bytes, at + 2, 48, inside);
    while end > at && matches!(bytes[end - 1], b'.' | b'-') {
        end -= 1;
    }
    let free = starts_token(bytes, start) && bytes[start..at].iter().all(|byte| inside(*byte));
    if free && bytes[at - 1].is_ascii_digit() && (31..=34).contains(&(end - at - 2)) {
        scanner.push(&DOTTED, start, end, 1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::super::token_table::{Body, SHAPES};
    use crate::testing::{finds, nothing, types};

    /// A body of the alphabet, the same every time.
    fn body(alphabet: Body, len: usize) -> String {
        let letters: Vec<char> = (b'!'..b'z')
            .rev()
            .filter(|byte| byte.is_ascii_alphanumeric() && alphabet.has(*byte))
            .map(char::from)
            .collect();
        (0..len)
            .map(|at| letters[(at * 7 + at * at * 3 + 5) % letters.len()])
            .collect()
    }

    #[test]
    fn a_token_of_every_shape_is_found_whole_in_prose_and_in_code() {
        for shape in SHAPES {
            let token = format!("{}{}", shape.1, body(shape.2, shape.3));
            for text in [
                format!("here is it: {token}, keep it"),
                format!("KEY=\"{token}\""),
                format!("use {token}"),
            ] {
                finds(&text, "SECRET", &token);
            }
        }
    }

    #[test]
    fn a_token_of_no_shape_is_found_when_it_is_too_short() {
        for shape in SHAPES.iter().filter(|shape| shape.3 > 16) {
            let token = format!("{}{}", shape.1, body(shape.2, 5));
            assert!(
                !types(&format!("see {token} there")).contains(&"SECRET".to_owned()),
                "{token}"
            );
        }
    }

    #[test]
    fn tokens_known_by_structure_are_found() {
        let discord = [
            "MTk4NjIyNDgzNDcxOTI1",
            "MjQ4.Cl2FMQ.ZnCjm1XVW7",
            "vRze4b7Cq4se7kKWs",
        ]
        .concat();
        finds(&format!("bot {discord}"), "SECRET", &discord);
        let mailchimp = format!("{}-us12", body(Body::Hex, 32).to_lowercase());
        finds(&format!("chimp {mailchimp}"), "SECRET", &mailchimp);
        let azure = format!("abc8Q~{}", body(Body::Alnum, 34));
        finds(&format!("azure {azure}"), "SECRET", &azure);
    }

    #[test]
    fn capitals_without_a_digit_behind_a_prefix_are_a_token() {
        let token = ["AKIA", "UOZPFXXBXZYMXYJL"].concat();
        finds(&format!("my old key {token} works"), "SECRET", &token);
    }

    #[test]
    fn a_cut_off_key_is_still_a_key() {
        let key = ["-----BEGIN PRIVATE", " KEY-----\nMIIEvQIBADANBg"].concat();
        finds(&key, "SECRET", &key);
        nothing(&["-----BEGIN CERTIFI", "CATE-----\nMIIEvQ"].concat());
    }
}
