//! Secrets that only their name gives away: `password = …`, `"api_key": "…"`, "my password is …",
//! `Authorization: Bearer …`.

use super::Scanner;
use super::token::distinct;
use crate::Entity;
use crate::rule::{Rule, Strength};
use crate::text::{byte_at, byte_before, is_word, run_end, starts_token};

pub(crate) static PASSWORD: Rule = Rule {
    id: "secret-password",
    rev: 1,
    entity: Entity::Secret,
    strength: Strength::Contextual,
    summary: "what follows a word for a password and a sign or verb that gives it a value",
    matches: &["my password is Tr0ub4", "dor&3 now"],
    rejects: &["my password is wrong", " again, password=changeme"],
};

pub(crate) static ASSIGNED: Rule = Rule {
    id: "secret-assignment",
    rev: 1,
    entity: Entity::Secret,
    strength: Strength::Generic,
    summary: "a value that looks drawn by lot behind a name such as token, secret or api key",
    matches: &["api_key = \"q8Zr4TnV1x", "Lw7PbC2dYk\""],
    rejects: &["api_key = process.env", ".API_KEY, token = null"],
};

pub(crate) static CREDENTIAL: Rule = Rule {
    id: "secret-http-credential",
    rev: 1,
    entity: Entity::Secret,
    strength: Strength::Structural,
    summary: "the credential of a bearer or basic authorization header",
    matches: &["Authorization: Bearer q8Zr4TnV1x", "Lw7PbC2dYk"],
    rejects: &["Authorization: Bearer REDACTED", ", a bearer of news"],
};

/// What a name promises about its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Chosen by a person: short, may be a word.
    Password,
    /// Drawn by a machine: long and without a pattern.
    Key,
}

/// Names of secrets. Letters may stand before them (`dbPassword`), and a suffix behind (`token_v2`).
pub(crate) const NAMES: &[(Kind, &[&str])] = &[
    (
        Kind::Password,
        &[
            "password",
            "passwd",
            "passphrase",
            "pass phrase",
            "passcode",
            "pwd",
            "pass",
            "login code",
            "contraseña",
            "contrasena",
            "clave",
            "passwort",
            "kennwort",
            "mot de passe",
            "senha",
            "hasło",
            "wachtwoord",
            "lösenord",
            "пароль",
            "密码",
            "密碼",
            "パスワード",
            "비밀번호",
            "كلمة المرور",
            "कूटशब्द",
            "पासवर्ड",
        ],
    ),
    (
        Kind::Key,
        &[
            "secret",
            "token",
            "api_key",
            "apikey",
            "api-key",
            "api key",
            "access_key",
            "accesskey",
            "access key",
            "access-key",
            "secret_key",
            "secretkey",
            "secret key",
            "private_key",
            "privatekey",
            "private key",
            "client_secret",
            "clientsecret",
            "signing_key",
            "signing key",
            "encryption_key",
            "encryption key",
            "master_key",
            "account_key",
            "accountkey",
            "sharedaccesskey",
            "credential",
            "credentials",
            "x-api-key",
            "auth_key",
            "authkey",
            "auth key",
            "license_key",
            "license key",
            "webhook_key",
            "session_key",
            "sessionid",
            "session_id",
            "sig",
            "authorization",
            "subscription-key",
            "subscription_key",
            "service_key",
            "deploy_key",
            "recovery code",
            "backup code",
            "otp_secret",
        ],
    ),
];

/// Handles the name that ends at `name_end`; answers where its value ends.
pub(crate) fn named(
    scanner: &mut Scanner<'_>,
    start: usize,
    name_end: usize,
    kind: Kind,
) -> Option<usize> {
    let bytes = scanner.bytes();
    let name = &bytes[start..name_end];
    let flag = bytes[..start].ends_with(b"--") || bytes[..start].ends_with(b"--db-");
    // Short names are words of other words: `compass`, `bypass`, `signal`.
    if name.len() <= 4 && is_word(byte_before(bytes, start)) && !camel_or_snake(bytes, start) {
        return None;
    }
    let (value_at, link) = link(bytes, name_end, flag)?;
    let (from, to) = value(scanner.text(), value_at, link);
    let text = scanner.text().get(from..to)?;
    if is_placeholder(text) || !is_believable(text, kind, link, &scanner.text()[to..]) {
        return None;
    }
    let rule = if kind == Kind::Password {
        &PASSWORD
    } else {
        &ASSIGNED
    };
    scanner.push(
        rule,
        from,
        to,
        if kind == Kind::Password { 0.8 } else { 0.7 },
    );
    Some(to)
}

fn camel_or_snake(bytes: &[u8], start: usize) -> bool {
    byte_before(bytes, start) == b'_'
        || bytes[start].is_ascii_uppercase() && byte_before(bytes, start).is_ascii_lowercase()
        || starts_token(bytes, start)
}

/// What ties a name to its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Link {
    /// `=`, `:` and their like.
    Sign,
    /// A sign, and the value in quotes.
    Quoted(u8),
    /// "is", and the like in other languages.
    Verb,
}

/// Where the value starts behind the name, over a suffix of the name, a closing quote and the tie.
fn link(bytes: &[u8], name_end: usize, flag: bool) -> Option<(usize, Link)> {
    let mut at = name_end;
    if matches!(byte_at(bytes, at), b'_' | b'-' | b'0'..=b'9')
        || byte_at(bytes, at).is_ascii_uppercase()
    {
        at = run_end(bytes, at, 24, |byte| is_word(byte) || byte == b'-');
    } else if byte_at(bytes, at) == b's' {
        at += 1;
    }
    if is_word(byte_at(bytes, at)) {
        return None;
    }
    at = run_end(bytes, at, 3, |byte| {
        matches!(byte, b'"' | b'\'' | b']' | b'\\' | b'`' | b'*')
    });
    let tie = run_end(bytes, at, 4, |byte| byte == b' ' || byte == b'\t');
    let rest = &bytes[tie..];
    let sign = [&b":="[..], b"=>", b"==", b"->", b"=", b":"]
        .into_iter()
        .find(|sign| rest.starts_with(sign));
    if let Some(sign) = sign {
        if sign == b"==" {
            return None;
        }
        let from = run_end(bytes, tie + sign.len(), 4, |byte| {
            byte == b' ' || byte == b'\t' || byte == b'*'
        });
        return Some(opened(bytes, from));
    }
    if tie == at && !rest.first().is_some_and(|byte| *byte >= 0x80) {
        return None;
    }
    if flag {
        return Some(opened(bytes, tie));
    }
    let verb = VERBS
        .iter()
        .find(|verb| rest.starts_with(verb.as_bytes()))?;
    let from = run_end(bytes, tie + verb.len(), 4, |byte| {
        matches!(byte, b' ' | b':')
    });
    let (from, link) = opened(bytes, from);
    Some((from, if link == Link::Sign { Link::Verb } else { link }))
}

const VERBS: &[&str] = &[
    "is now ",
    "is still ",
    "is: ",
    "is ",
    "was ",
    "will be ",
    "to ",
    "for the db is ",
    "for prod is ",
    "ist ",
    "lautet ",
    "es ",
    "est ",
    "è ",
    "é ",
    "jest ",
    "är ",
    "er ",
    "— ",
    "- ",
    "это ",
    "是",
    "は",
    "है ",
    "هي ",
];

fn opened(bytes: &[u8], at: usize) -> (usize, Link) {
    let at = if byte_at(bytes, at) == b'\\' {
        at + 1
    } else {
        at
    };
    match byte_at(bytes, at) {
        quote @ (b'"' | b'\'' | b'`') => (at + 1, Link::Quoted(quote)),
        _ => (at, Link::Sign),
    }
}

/// Longest value that is looked at.
const LONGEST: usize = 512;

fn value(text: &str, from: usize, link: Link) -> (usize, usize) {
    let bytes = text.as_bytes();
    let stops = |byte: u8| match link {
        Link::Quoted(quote) => byte == quote || byte == b'\n' || byte == b'\\',
        Link::Sign => {
            byte.is_ascii_whitespace()
                || matches!(
                    byte,
                    b'"' | b'\'' | b'`' | b',' | b';' | b'<' | b'>' | b'|' | b'&' | b'\\'
                )
        }
        Link::Verb => {
            byte.is_ascii_whitespace() || matches!(byte, b'"' | b'`' | b'<' | b'>' | b'\\')
        }
    };
    let mut end = run_end(bytes, from, LONGEST, |byte| !stops(byte));
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    if !matches!(link, Link::Quoted(_)) {
        let balanced = |open: u8, close: u8, end: usize| {
            let count = |wanted| {
                bytes[from..end]
                    .iter()
                    .filter(|byte| **byte == wanted)
                    .count()
            };
            count(open) >= count(close)
        };
        while end > from {
            let trimmed = match bytes[end - 1] {
                b'.' | b',' | b';' | b':' | b'?' | b'\'' => true,
                b'!' => link == Link::Verb && end == bytes.len() && false,
                b')' => !balanced(b'(', b')', end),
                b']' => !balanced(b'[', b']', end),
                b'}' => !balanced(b'{', b'}', end),
                _ => false,
            };
            if !trimmed {
                break;
            }
            end -= 1;
        }
    }
    (from, end)
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
        "[secret",
        "[email",
        "placehold",
    ];
    // The head tells; a long value is read no further, so that many of them stay cheap.
    let mut head = value.len().min(64);
    while !value.is_char_boundary(head) {
        head -= 1;
    }
    let lower = value[..head].to_ascii_lowercase();
    let text = lower.trim_matches(|ch: char| matches!(ch, '"' | '\'' | '[' | ']' | '(' | ')'));
    text.is_empty()
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
        || text.starts_with('$') && text[1..].bytes().all(|byte| is_word(byte))
        || distinct(text.as_bytes()) < 3
        || WORDS.iter().any(|word| lower.contains(word))
            && !(lower.len() > 24 && digits(&lower) > 3)
}

fn digits(text: &str) -> usize {
    text.bytes().filter(u8::is_ascii_digit).count()
}

fn is_believable(value: &str, kind: Kind, link: Link, rest: &str) -> bool {
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
    ];
    let plain = value
        .bytes()
        .all(|byte| byte.is_ascii_alphabetic() || byte == b'-' || byte == b'_');
    let joined = value.bytes().filter(|byte| *byte == b'-').count() >= 2 && value.len() >= 14;
    let ends = rest
        .trim_start_matches(['.', '!', ',', '"', '\'', '`', ')'])
        .is_empty()
        || rest.starts_with(['\n', '"', '\'', '`']);
    let word = value.len() >= 8
        && value.bytes().all(|byte| byte.is_ascii_lowercase())
        && !SAID_OF_ONE.contains(&value)
        && !value.ends_with("ed")
        && !value.ends_with("ing");
    plain
        && matches!(link, Link::Verb | Link::Quoted(_))
        && (joined || (ends && word && link == Link::Verb))
}

/// Calls, members and types are how programs speak of secrets without holding one.
fn looks_like_code(value: &str) -> bool {
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
        || value.starts_with("&self")
        || value.starts_with("this.")
        || value.starts_with("self.");
    member || call || index || path || value.contains("=>") || value.contains("->")
}

/// Handles `bearer ` or `basic ` that ends at `from`.
pub(crate) fn credential(scanner: &mut Scanner<'_>, start: usize, from: usize) -> Option<usize> {
    let bytes = scanner.bytes();
    let allowed = |byte: u8| {
        byte.is_ascii_alphanumeric()
            || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'+' | b'/' | b'=')
    };
    let mut end = run_end(bytes, from, 4096, allowed);
    while end > from && bytes[end - 1] == b'.' {
        end -= 1;
    }
    let text = &scanner.text()[from..end];
    let basic = bytes[start..from].eq_ignore_ascii_case(b"basic ");
    let code = matches!(byte_at(bytes, end), b'(' | b'[');
    if text.len() < 8
        || code
        || is_word(byte_before(bytes, start))
        || is_placeholder(text)
        || looks_like_code(text)
    {
        return None;
    }
    let mixed = digits(text) > 0 && text.bytes().any(|byte| byte.is_ascii_alphabetic());
    let cased = text.bytes().skip(1).any(|byte| byte.is_ascii_uppercase())
        && text.bytes().any(|byte| byte.is_ascii_lowercase());
    let believable = if basic {
        is_user_and_password(text)
    } else {
        text.len() >= 12 && (mixed || text.len() >= 20 && cased)
    };
    if !believable {
        return None;
    }
    scanner.push(&CREDENTIAL, from, end, 0.9);
    Some(end)
}

/// Whether base64 text decodes to printable characters around a colon.
fn is_user_and_password(text: &str) -> bool {
    let mut decoded = Vec::with_capacity(text.len());
    let (mut bits, mut count) = (0_u32, 0);
    for byte in text.trim_end_matches('=').bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return false,
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            decoded.push((bits >> count & 0xFF) as u8);
        }
    }
    decoded.contains(&b':') && decoded.iter().all(|byte| *byte >= b' ' && *byte != 0x7F)
}

#[cfg(test)]
mod tests {
    use crate::testing::{finds, nothing, types};

    fn secret() -> String {
        ["Zx9", "kQ2mV7", "tR4wLp8"].concat()
    }

    #[test]
    fn a_value_behind_a_telling_name_is_found_in_prose_code_and_json() {
        let secret = secret();
        for text in [
            format!("my password is {secret}"),
            format!("password: {secret}, thanks"),
            format!("pwd={secret}"),
            format!("DB_PASSWORD='{secret}'"),
            format!("{{\"api_key\":\"{secret}\"}}"),
            format!("apiKey: \"{secret}\","),
            format!("mysql --password {secret} -h x"),
            format!("the token is `{secret}`"),
            format!("export AUTH_TOKEN={secret}"),
            format!("https://x.example/?access_token={secret}&a=b"),
            format!("contraseña: {secret}"),
            format!("Das Passwort ist {secret}."),
            format!("client_secret => \"{secret}\""),
            format!("Authorization: Bearer {secret}"),
            format!("密码是{secret}"),
        ] {
            finds(&text, "SECRET", &secret);
        }
    }

    #[test]
    fn the_basic_credential_is_found_and_other_words_after_basic_are_not() {
        let text = ["Authorization: Basic dXNlcjpw", "YXNzd29yZDEy"].concat();
        finds(&text, "SECRET", &text[21..]);
        nothing("basic understanding of things");
    }

    #[test]
    fn placeholders_and_code_are_none() {
        for value in [
            "REDACTED",
            "***",
            "null",
            "xxxxxxxxxxxxxxxx",
            "process.env.TOKEN",
            "os.environ[\"API_KEY\"]",
            "${API_KEY}",
            "<YOUR_TOKEN>",
            "your_api_key_here",
            "changeme",
            "get_password()",
            "config.password",
            "String",
            "self.password",
        ] {
            for name in [
                "password=",
                "token: ",
                "Authorization: Bearer ",
                "api_key = ",
            ] {
                assert_eq!(
                    types(&format!("{name}{value}")),
                    Vec::<String>::new(),
                    "{name}{value}"
                );
            }
        }
        for text in [
            "the password is incorrect.",
            "max_tokens=4096",
            "the secret is communication",
            "compass: north-5west",
        ] {
            nothing(text);
        }
    }
}
