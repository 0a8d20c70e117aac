//! The one pass over a text that calls the rules where something could begin.
//!
//! Every rule looks a bounded distance from its trigger, or moves the pass beyond what it has read;
//! that is what makes the time linear in the text.

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use crate::rules::assign;
use crate::rules::secret_names::{Kind, NAMES};
use crate::rules::token_table::{SHAPES, Shape};
use crate::rules::{Scanner, credential, crypto, email, ip, mac, number, token, url};
use crate::text::{byte_at, byte_before};

/// What a byte may begin.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Nothing,
    Digit,
    At,
    Colon,
    Dot,
    Dash,
}

const CLASSES: [Class; 256] = {
    let mut classes = [Class::Nothing; 256];
    let mut digit = b'0';
    while digit <= b'9' {
        classes[digit as usize] = Class::Digit;
        digit += 1;
    }
    classes[b'@' as usize] = Class::At;
    classes[b':' as usize] = Class::Colon;
    classes[b'.' as usize] = Class::Dot;
    classes[b'-' as usize] = Class::Dash;
    classes
};

/// What a keyword begins.
enum Keyword {
    Token(Vec<&'static Shape>),
    Name(Kind),
    Credential,
    UserFlag,
    Jwt,
    KeyBlock,
    EscapedAt,
    Telegram,
    Azure,
    Bech32(usize),
}

/// The keyword automaton, built once.
pub(crate) struct Triggers {
    keywords: AhoCorasick,
    meanings: Vec<Keyword>,
}

impl Triggers {
    pub(crate) fn new() -> Self {
        let mut patterns: Vec<&str> = Vec::new();
        let mut meanings = Vec::new();
        for shape in SHAPES {
            if !patterns.contains(&shape.1) {
                patterns.push(shape.1);
                meanings.push(Keyword::Token(
                    SHAPES.iter().filter(|other| other.1 == shape.1).collect(),
                ));
            }
        }
        for (kind, names) in NAMES {
            for name in *names {
                patterns.push(name);
                meanings.push(Keyword::Name(*kind));
            }
        }
        let others = [
            ("bearer ", Keyword::Credential),
            ("basic ", Keyword::Credential),
            (" -u ", Keyword::UserFlag),
            ("--user ", Keyword::UserFlag),
            ("eyJ", Keyword::Jwt),
            ("-----BEGIN ", Keyword::KeyBlock),
            ("%40", Keyword::EscapedAt),
            (":AA", Keyword::Telegram),
            ("Q~", Keyword::Azure),
            ("bc1", Keyword::Bech32(2)),
            ("tb1", Keyword::Bech32(2)),
            ("ltc1", Keyword::Bech32(3)),
        ];
        for (pattern, meaning) in others {
            patterns.push(pattern);
            meanings.push(meaning);
        }
        let keywords = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::LeftmostLongest)
            .kind(Some(AhoCorasickKind::DFA))
            .build(&patterns)
            .expect("a few hundred short patterns always fit an automaton");
        Self { keywords, meanings }
    }

    /// Runs every rule over the scanner's text.
    pub(crate) fn run(&self, scanner: &mut Scanner<'_>) {
        // Secrets first: what they cover is no context for numbers.
        self.keywords(scanner);
        characters(scanner);
    }

    fn keywords(&self, scanner: &mut Scanner<'_>) {
        let mut done = 0;
        for found in self.keywords.find_iter(scanner.bytes()) {
            let (start, end) = (found.start(), found.end());
            if start < done {
                continue;
            }
            let reached = match &self.meanings[found.pattern().as_usize()] {
                // The prefix of one old token is the beginning of many names, too.
                Keyword::Token(shapes) => token::prefixed(scanner, start, shapes).or_else(|| {
                    let name = shapes[0].1 == "secret_";
                    name.then(|| assign::named(scanner, start, end - 1, Kind::Key))?
                        .map(|_| end)
                }),
                Keyword::Name(kind) => assign::named(scanner, start, end, *kind).map(|_| end),
                Keyword::Credential => credential::credential(scanner, start, end),
                Keyword::UserFlag => credential::user_flag(scanner, end),
                Keyword::Jwt => token::jwt(scanner, start),
                Keyword::KeyBlock => Some(token::key_block(scanner, start)),
                Keyword::EscapedAt => Some(email::at(scanner, start, 3)),
                Keyword::Telegram => {
                    token::telegram(scanner, start);
                    None
                }
                Keyword::Azure => {
                    token::azure(scanner, start);
                    None
                }
                Keyword::Bech32(readable) => {
                    crypto::bech32(scanner, start, *readable);
                    None
                }
            };
            done = done.max(reached.unwrap_or(end));
        }
    }
}

fn characters(scanner: &mut Scanner<'_>) {
    let bytes = scanner.bytes();
    let mut at = 0;
    while at < bytes.len() {
        at = match CLASSES[usize::from(bytes[at])] {
            Class::Nothing => at + 1,
            Class::Digit => number::at(scanner, at),
            Class::At => email::at(scanner, at, 1),
            Class::Colon => colon(scanner, at),
            Class::Dot => dot(scanner, at),
            Class::Dash => dash(scanner, at),
        };
    }
}

fn colon(scanner: &mut Scanner<'_>, at: usize) -> usize {
    let bytes = scanner.bytes();
    if bytes[at..].starts_with(b"://") {
        return url::at(scanner, at);
    }
    if at >= 2 && byte_at(bytes, at + 3) == b':' && mac::try_at(scanner, at - 2) {
        return at + 12;
    }
    // An address in hex needs a second colon near.
    let near = &bytes[at + 1..bytes.len().min(at + 6)];
    if near.contains(&b':') {
        ip::colon(scanner, at)
    } else {
        at + 1
    }
}

fn dot(scanner: &mut Scanner<'_>, at: usize) -> usize {
    let bytes = scanner.bytes();
    if at >= 4 && byte_at(bytes, at + 5) == b'.' && mac::try_at(scanner, at - 4) {
        return at + 10;
    }
    let joins = byte_before(bytes, at).is_ascii_alphanumeric()
        && byte_at(bytes, at + 1).is_ascii_alphabetic();
    if joins { url::dot(scanner, at) } else { at + 1 }
}

fn dash(scanner: &mut Scanner<'_>, at: usize) -> usize {
    let bytes = scanner.bytes();
    if at >= 2 && byte_at(bytes, at + 3) == b'-' && mac::try_at(scanner, at - 2) {
        return at + 12;
    }
    at + 1
}
