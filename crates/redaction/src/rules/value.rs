//! Where the value behind a telling name ends, and whether it can be a secret at all.

use super::Scanner;
use super::secret_names::Kind;
use super::token::distinct;
use crate::covered::placeholder_follows;
use crate::text::{byte_at, count, is_word, run_end};

/// What ties a name to its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Link {
    /// `=`, `:` and their like.
    Sign,
    /// A sign, and the value in quotes.
    Quoted(u8),
    /// The tags of an element around the value.
    Element,
    /// "is", and the like in other languages.
    Verb,
    /// Nothing but a space.
    Bare,
}

impl Link {
    /// Whether a value tied like this ends before `byte`.
    fn ends_before(self, byte: u8) -> bool {
        match self {
            Self::Quoted(quote) => matches!(byte, b'\n' | b'\\') || byte == quote,
            Self::Sign => {
                byte.is_ascii_whitespace() || b"\"'`,;<>|&\\".contains(&byte) || begins_wide(byte)
            }
            Self::Element => byte.is_ascii_whitespace() || byte == b'<',
            Self::Verb | Self::Bare => {
                byte.is_ascii_whitespace() || b"\"`<>\\".contains(&byte) || begins_wide(byte)
            }
        }
    }
}

/// Whether a character of a script without spaces begins here, or one of its marks: `は…です`.
fn begins_wide(byte: u8) -> bool {
    matches!(byte, 0xE3..=0xED | 0xEF)
}

/// The end of the value that starts at `from`. A run is read once however many names it holds.
pub(crate) fn end(scanner: &mut Scanner<'_>, from: usize, link: Link) -> usize {
    let bytes = scanner.bytes();
    let known = match link {
        Link::Quoted(_) => return run_end(bytes, from, usize::MAX, |byte| !link.ends_before(byte)),
        Link::Element => return run_end(bytes, from, 4096, |byte| !link.ends_before(byte)),
        Link::Sign => &mut scanner.value_ends[0],
        Link::Verb | Link::Bare => &mut scanner.value_ends[1],
    };
    if !(known.0..known.1).contains(&from) {
        let mut end = run_end(bytes, from, usize::MAX, |byte| !link.ends_before(byte));
        while byte_at(bytes, end) == b'&' && goes_on_behind_ampersand(bytes, end + 1) {
            end = run_end(bytes, end + 1, usize::MAX, |byte| !link.ends_before(byte));
        }
        *known = (from, end);
    }
    trim(bytes, from, known.1)
}

/// Whether what follows an ampersand belongs to the value before it: not the next parameter of a query, and no
/// sign of a shell.
fn goes_on_behind_ampersand(bytes: &[u8], at: usize) -> bool {
    let name = run_end(bytes, at, 32, |byte| {
        is_word(byte) || b"-.%[]".contains(&byte)
    });
    let next = byte_at(bytes, at);
    let ends = next == 0 || next.is_ascii_whitespace() || b"\"'`,;<>|&\\#".contains(&next);
    byte_at(bytes, name) != b'=' && !ends && !begins_wide(next)
}

/// Takes the sentence's punctuation, a few marks at most, off the end of a value.
fn trim(bytes: &[u8], from: usize, mut end: usize) -> usize {
    const MOST: usize = 8;
    let closes = |open: u8, close: u8, end: usize| {
        let value = &bytes[from..end];

        value.len() <= HEAD && count(value, open) < count(value, close)
    };
    for _ in 0..MOST {
        let trimmed = end > from
            && match bytes[end - 1] {
                b'.' | b',' | b';' | b':' | b'?' | b'\'' => true,
                b')' => closes(b'(', b')', end),
                b']' => closes(b'[', b']', end),
                b'}' => closes(b'{', b'}', end),
                _ => false,
            };
        if !trimmed {
            break;
        }
        end -= 1;
    }
    end
}

/// How much of a value is judged: the head tells, and many long values stay cheap.
const HEAD: usize = 96;

/// The part of a value that is judged.
pub(crate) fn head(value: &str) -> &str {
    let mut end = value.len().min(HEAD);
    while !value.is_char_boundary(end) {
        end -= 1;
    }
    &value[..end]
}

/// Values that stand for a secret and are none.
pub(crate) fn is_placeholder(value: &str) -> bool {
    const WORDS: &[&str] = &[
        "redacted",
        "changeme",
        "change_me",
        "change-me",
        "placeholder",
        "example",
        "your_",
        "your-",
        "yourpass",
        "my_secret",
        "mysecret",
        "<",
        "${",
        "{{",
        "$(",
        "%s",
        "%(",
        "xxxx",
        "****",
        "....",
        "process.env",
        "os.environ",
        "getenv",
        "env.",
        "env[",
        "env(",
        "import.meta",
        "secrets.",
        "vars.",
        "null",
        "none",
        "undefined",
        "dummy",
        "todo",
        "insert",
        "replace_me",
        "masked",
        "hidden",
        "placehold",
    ];
    let lower = head(value).to_ascii_lowercase();
    let text = lower.trim_matches(|ch: char| matches!(ch, '"' | '\'' | '[' | ']' | '(' | ')'));
    let masked = memchr::memchr_iter(b'[', head(value).as_bytes())
        .take(8)
        .any(|open| placeholder_follows(head(value).as_bytes(), open));
    masked
        || text.is_empty()
        || matches!(
            text,
            "true"
                | "false"
                | "nil"
                | "password"
                | "passwd"
                | "secret"
                | "token"
                | "test"
                | "string"
                | "str"
                | "foo"
                | "bar"
                | "pass"
                | "pwd"
                | "user"
        )
        || text.starts_with('$') && text[1..].bytes().all(is_word)
        // A tag of YAML: the value is elsewhere.
        || matches!(text, "!vault" | "!secret" | "!ref" | "!sub" | "!env" | "!env_var")
        || distinct(text.as_bytes()) < 3
        || WORDS.iter().any(|word| lower.contains(word))
            && !(lower.len() > 24 && digits(&lower) > 3)
}

pub(crate) fn digits(text: &str) -> usize {
    text.bytes().filter(u8::is_ascii_digit).count()
}

pub(crate) fn is_believable(value: &str, kind: Kind, link: Link, rest: &str) -> bool {
    let value = head(value);
    if looks_like_code(value) {
        return false;
    }
    let letters = value.chars().filter(|ch| ch.is_alphabetic()).count();
    let figures = digits(value);
    let symbols = value
        .bytes()
        .filter(|byte| byte.is_ascii_punctuation() && !matches!(byte, b'_' | b'-' | b'.' | b'/'))
        .count();
    let upper_inside =
        value.chars().skip(1).any(char::is_uppercase) && value.chars().any(char::is_lowercase);
    if link == Link::Bare && kind == Kind::Password {
        // "password protected" is no password: only what nobody would take for a word.
        let strange = symbols > 0 || upper_inside || figures >= 2 && ends_in_figures(value);
        return strange && figures > 0 && letters > 0 && value.len() >= 8 && !value.contains(' ')
            || is_pass_phrase(value, link, rest);
    }
    match kind {
        Kind::Password => {
            let mixed = letters > 0 && figures > 0 || symbols > 0 && letters + figures >= 4;
            value.len() >= 5 && mixed && !value.contains(' ')
                || figures >= 4
                    && letters == 0
                    && value.len() >= 4
                    && value.len() <= 16
                    && !value.contains('.')
                || upper_inside && value.len() >= 10 && !value.contains(' ') && link != Link::Sign
                || is_pass_phrase(value, link, rest)
        }
        Kind::Loose => {
            let upper = value.bytes().filter(u8::is_ascii_uppercase).count();
            let lower = value.bytes().filter(u8::is_ascii_lowercase).count();
            value.len() >= 20
                && figures >= 2
                && upper >= 2
                && lower >= 2
                && distinct(value.as_bytes()) >= 12
                && !value.contains([' ', '/', ':'])
        }
        Kind::Key => {
            let body = value.bytes().filter(u8::is_ascii_alphanumeric).count();
            body >= 12
                && !value.contains(' ')
                && distinct(value.as_bytes()) >= 8
                && (letters > 0 && figures >= 2 || upper_inside && value.len() >= 20)
                && !value.contains("://")
                && !value.starts_with('/')
                && !value.starts_with("./")
        }
    }
}

/// `kite-coffee45`, but not `pbkdf2-sha256`.
fn ends_in_figures(value: &str) -> bool {
    const METHODS: [&str; 4] = ["sha", "md5", "crypt", "pbkdf"];
    let lower = value.to_ascii_lowercase();
    let letters = lower.bytes().filter(u8::is_ascii_alphabetic).count();
    let last = lower.bytes().rev().take(2);
    letters >= 3
        && last.filter(u8::is_ascii_digit).count() == 2
        && !METHODS.iter().any(|method| lower.contains(method))
}

/// Words chosen as a password: several joined ones, or a single one that ends the sentence.
fn is_pass_phrase(value: &str, link: Link, rest: &str) -> bool {
    const SAID_OF_ONE: &[&str] = &[
        "incorrect",
        "required",
        "invalid",
        "expired",
        "missing",
        "correct",
        "secure",
        "encrypted",
        "optional",
        "different",
        "protected",
        "forgotten",
        "compromised",
        "mandatory",
        "unavailable",
        "authentication",
        "necessary",
        "sensitive",
        "confidential",
        "management",
        "something",
        "whatever",
        "impossible",
        "important",
        "basically",
        "actually",
        "definitely",
        "probably",
        "supposed",
        "rejected",
        "incorrecta",
        "incorrecto",
        "incorreta",
        "incorreto",
        "incorrecte",
        "invalide",
        "expirada",
        "expirado",
        "caducada",
        "caducado",
        "sbagliata",
        "scaduta",
        "obligatoria",
        "obligatoire",
        "obrigatoria",
        "requerida",
        "necesaria",
        "necessaire",
        "erforderlich",
        "abgelaufen",
        "vergessen",
        "gesperrt",
        "geheim",
        "verlopen",
        "vergeten",
        "felaktigt",
    ];
    let plain = value
        .bytes()
        .all(|byte| byte.is_ascii_alphabetic() || byte == b'-' || byte == b'_');
    // Behind a sign three words may be the name of something.
    let joints = match link {
        Link::Verb | Link::Quoted(_) => 2,
        _ => 3,
    };
    let joined = count(value.as_bytes(), b'-') >= joints && value.len() >= 14;
    let closing = run_end(rest.as_bytes(), 0, 4, |byte| b".!,\"'`)".contains(&byte));
    let after = byte_at(rest.as_bytes(), closing);
    let ends = closing == rest.len() || matches!(after, b'\n' | b'"' | b'\'' | b'`');
    let word = value.len() >= 8
        && value.bytes().all(|byte| byte.is_ascii_lowercase())
        && !SAID_OF_ONE.contains(&value)
        && !value.ends_with("ed")
        && !value.ends_with("ing");
    plain && (joined || (ends && word && link == Link::Verb))
}

/// Calls, members and types are how programs speak of secrets without holding one.
pub(crate) fn looks_like_code(value: &str) -> bool {
    let value = value.trim_start_matches(['*', '&']);
    let member = value.split('.').count() > 1
        && value.split('.').all(|part| {
            part.bytes()
                .all(|byte| byte.is_ascii_alphabetic() || byte == b'_')
                && !part.is_empty()
        });
    let call = value.find('(').is_some_and(|open| {
        open > 0
            && value[..open]
                .bytes()
                .all(|byte| is_word(byte) || matches!(byte, b'.' | b':' | b'!'))
    });
    let index = value.find('[').is_some_and(|open| {
        open > 0
            && value[..open]
                .bytes()
                .all(|byte| is_word(byte) || byte == b'.')
    });
    let path = value.contains("::")
        || value.starts_with(':')
        || value.starts_with("__")
        || value.starts_with(['[', '(', '{', '|'])
        || value.starts_with("&self")
        || value.starts_with("this.")
        || value.starts_with("self.");
    member || call || index || path || value.contains("=>") || value.contains("->")
}
