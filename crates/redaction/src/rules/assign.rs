//! Secrets that only their name gives away: `password = …`, `"api_key": "…"`, "my password is …",
//! `Authorization: Bearer …`.

use super::Scanner;
use super::secret_names::Kind;
use super::value::{self, Link, is_believable, is_placeholder};
use crate::Entity;
use crate::covered::placeholder_follows;
use crate::rule::{Rule, Strength};
use crate::text::{byte_at, byte_before, is_word, run_end, run_start, starts_token};

pub(crate) static PASSWORD: Rule = Rule {
    id: "secret-password",
    rev: 2,
    entity: Entity::Secret,
    strength: Strength::Contextual,
    summary: "what follows a word for a password and a sign or verb that gives it a value",
    matches: &["my password is Tr0ub4", "dor&3 now"],
    rejects: &["my password is wrong", " again, password=changeme"],
};

pub(crate) static ASSIGNED: Rule = Rule {
    id: "secret-assignment",
    rev: 2,
    entity: Entity::Secret,
    strength: Strength::Generic,
    summary: "a value that looks drawn by lot behind a name such as token, secret or api key",
    matches: &["api_key = \"q8Zr4TnV1x", "Lw7PbC2dYk\""],
    rejects: &["api_key = process.env", ".API_KEY, token = null"],
};

/// Handles the name that ends at `name_end`; answers where its value ends.
pub(crate) fn named(
    scanner: &mut Scanner<'_>,
    start: usize,
    name_end: usize,
    kind: Kind,
) -> Option<usize> {
    let bytes = scanner.bytes();
    let name = &bytes[start..name_end];
    // The label of a mask is the name of nothing.
    if byte_before(bytes, start) == b'[' && placeholder_follows(bytes, start - 1) {
        return None;
    }
    let flag = bytes[..start].ends_with(b"--") || bytes[..start].ends_with(b"--db-");
    // Short names are words of other words: `compass`, `bypass`, `signal`.
    let short = name.len() <= 4 || kind == Kind::Loose;
    if short && is_word(byte_before(bytes, start)) && !camel_or_snake(bytes, start) {
        return None;
    }
    if kind == Kind::Loose && is_public(bytes, start) {
        return None;
    }
    let (from, link) = link(bytes, name_end, flag)?;
    // "pass to …" is a verb and its object.
    if name.eq_ignore_ascii_case(b"pass")
        && matches!(link, Link::Verb | Link::Bare)
        && !bytes[name_end..].starts_with(b" is")
    {
        return None;
    }
    let to = value::end(scanner, from, link);
    let covered = scanner
        .found
        .last()
        .is_some_and(|last| last.start <= from && last.end == to);
    if covered {
        return Some(to);
    }
    let text = &scanner.text()[from..to];
    if link == Link::Element && !bytes[to..].starts_with(b"</") {
        return None;
    }
    if !is_believable(text, kind, link, &scanner.text()[to..]) || is_placeholder(text) {
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

/// Whether `public` stands before the name: such a key is for everybody.
fn is_public(bytes: &[u8], start: usize) -> bool {
    let joint = usize::from(matches!(byte_before(bytes, start), b'_' | b'-' | b' '));
    let head = &bytes[..start - joint];
    head.len() >= 6 && head[head.len() - 6..].eq_ignore_ascii_case(b"public")
}

fn camel_or_snake(bytes: &[u8], start: usize) -> bool {
    byte_before(bytes, start) == b'_'
        || bytes[start].is_ascii_uppercase() && byte_before(bytes, start).is_ascii_lowercase()
        || starts_token(bytes, start)
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
    if byte_at(bytes, at) == b'>' && opens_element(bytes, name_end) {
        return Some((at + 1, Link::Element));
    }
    let space = run_end(bytes, at, 4, |byte| byte == b' ' || byte == b'\t');
    let remark = (space > at).then(|| remark_end(bytes, space)).flatten();
    let tie = remark.unwrap_or(space);
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
    if remark.is_some() || tie == at && rest.first().is_none_or(|byte| *byte < 0x80) {
        return None;
    }
    if flag {
        return Some(opened(bytes, tie));
    }
    let start = verb_end(bytes, tie)?;
    let (from, link) = opened(bytes, start);
    if start == tie && link == Link::Sign {
        return Some((from, Link::Bare));
    }
    Some((from, if link == Link::Sign { Link::Verb } else { link }))
}

/// Whether the name that ends at `name_end` is that of an element, `<db:password>`.
fn opens_element(bytes: &[u8], name_end: usize) -> bool {
    let start = run_start(bytes, name_end, name_end.saturating_sub(48), |byte| {
        is_word(byte) || matches!(byte, b'-' | b':' | b'.' | b' ')
    });
    byte_before(bytes, start) == b'<'
}

/// Behind a remark in brackets and its space, as in `password (temporary): …`.
fn remark_end(bytes: &[u8], at: usize) -> Option<usize> {
    const LONGEST: usize = 32;
    if byte_at(bytes, at) != b'(' {
        return None;
    }
    let inner = &bytes[at..bytes.len().min(at + LONGEST)];
    let close = inner.iter().position(|byte| matches!(byte, b')' | b'\n'))?;
    (inner[close] == b')').then(|| run_end(bytes, at + close + 1, 4, |byte| byte == b' '))
}

/// Where the value starts behind a verb, or behind the name itself.
fn verb_end(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = &bytes[at..];
    let verb = VERBS.iter().find(|verb| rest.starts_with(verb.as_bytes()));
    if let Some(verb) = verb {
        return Some(run_end(bytes, at + verb.len(), 4, |byte| {
            matches!(byte, b' ' | b':')
        }));
    }
    // "the password for the staging database is …"
    let joined = [&b"for "[..], b"of ", b"on "]
        .into_iter()
        .any(|word| rest.starts_with(word));
    if joined {
        const REACH: usize = 48;
        let near = &bytes[at..bytes.len().min(at + REACH)];
        let stop = near
            .iter()
            .position(|byte| matches!(byte, b'.' | b',' | b';' | b'\n' | b'?'));
        let near = &near[..stop.unwrap_or(near.len())];
        let tie = [&b" is "[..], b" is: ", b": ", b" = "]
            .into_iter()
            .filter_map(|tie| memchr::memmem::find(near, tie).map(|found| found + tie.len()));
        return tie
            .min()
            .map(|found| run_end(bytes, at + found, 4, |byte| byte == b' ' || byte == b':'));
    }
    Some(at)
}

/// What gives a name its value, in the languages the service meets.
const VERBS: &[&str] = &[
    "is now ",
    "is still ",
    "is: ",
    "is ",
    "was ",
    "will be ",
    "changed to ",
    "set to ",
    "to ",
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
    "on ",
    "este ",
    "là ",
    "는 ",
    "은 ",
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
            format!("the password for the staging database is {secret}"),
            format!("secret {secret} goes with it"),
            format!("密码是{secret}"),
            format!("パスワードは{secret}です"),
            format!("<db:password>{secret}</db:password>"),
            format!("<apiKey>{secret}</apiKey>"),
            format!("password (temporary): {secret}"),
            format!("şifre: {secret}"),
        ] {
            finds(&text, "SECRET", &secret);
        }
    }

    #[test]
    fn joined_words_behind_a_sign_and_a_word_with_figures_behind_the_name_are_passwords() {
        let phrase = ["river-moon", "-purple-kite"].concat();
        for text in [
            format!("DB_PASSWORD={phrase}"),
            format!("hasło: {phrase}"),
            format!("password={phrase} psql"),
        ] {
            finds(&text, "SECRET", &phrase);
        }
        finds(
            &format!("user admin and password {phrase}."),
            "SECRET",
            &phrase,
        );
        let word = ["kite-co", "ffee45"].concat();
        finds(
            &format!("log in as admin with password {word}"),
            "SECRET",
            &word,
        );
        nothing("<input type=password class=login-form-field>");
        nothing("password: current-password-field");
    }

    #[test]
    fn an_ampersand_ends_a_parameter_and_not_a_password() {
        let odd = ["U&HJr", "MP7Y7WX"].concat();
        finds(&format!("password: {odd}"), "SECRET", &odd);
        finds(
            &format!("<password>{odd}?</password>"),
            "SECRET",
            &format!("{odd}?"),
        );
        let secret = secret();
        for text in [
            format!("?password={secret}&next=1"),
            format!("password={secret} && run"),
            format!("export PASSWORD={secret}&"),
            format!("?pwd={secret}&user[name]=jo"),
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
    fn the_password_of_a_user_flag_is_found_and_a_group_is_not() {
        let secret = secret();
        finds(
            &format!("curl -u admin:{secret} https://x.example"),
            "SECRET",
            &secret,
        );
        nothing("docker run -u 1000:100000 image");
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
            "a password 2fa-enabled account",
            "TRUST_TOKEN *TRUST_TOKEN_new1(const x2)",
            "max_tokens=4096",
            "the secret is communication",
            "compass: north-5west",
            "la contraseña es incorrecta",
            "public_key = \"MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A\"",
            "password: !vault |",
            "Map<Password>a1b2c3d4e5",
            "a password pbkdf2-sha256",
            "def check(password (str): 12)",
        ] {
            nothing(text);
        }
    }
}
