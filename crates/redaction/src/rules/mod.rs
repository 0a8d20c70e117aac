//! The rule table: every rule, what it finds, an example that matches and one that must not.

pub(crate) mod assign;
mod calling_code;
pub(crate) mod card;
pub(crate) mod credential;
pub(crate) mod crypto;
pub(crate) mod email;
pub(crate) mod iban;
pub(crate) mod ip;
pub(crate) mod mac;
pub(crate) mod number;
pub(crate) mod phone;
mod phone_extension;
mod phone_shape;
pub(crate) mod secret_names;
pub(crate) mod ssn;
mod tld;
pub(crate) mod token;
pub(crate) mod token_table;
pub(crate) mod url;
mod value;

use crate::Entity;
use crate::context::{Context, Lexicon};
use crate::covered::Covered;
use crate::detector::MASKED_BY_DEFAULT;
use crate::rule::{Candidate, Rule, Strength};

/// Not a rule of text but of names: the value of `password`, `authorization`, … is covered whole.
pub(crate) static DENIED_KEY: Rule = Rule {
    id: "secret-denied-key",
    rev: 1,
    entity: Entity::Secret,
    strength: Strength::Structural,
    summary: "the whole value of a JSON field whose name says that it is a secret",
    matches: &["{\"Set-Cookie\":", "\"a b\"}"],
    rejects: &["{\"Set-Cookies-At\":", "\"a b\"}"],
};

/// Not a finding: what lies beyond a limit is covered, never shown unscanned (T-31).
pub(crate) static UNSCANNED: Rule = Rule {
    id: "unscanned",
    rev: 1,
    entity: Entity::Unscanned,
    strength: Strength::Validated,
    summary: "a JSON field that cannot be parsed, and whatever lies beyond a limit",
    matches: &["{\"a\": 1", ""],
    rejects: &["{\"a\": 1", "}"],
};

/// Every rule there is. A rule that is not listed here fails the tests.
pub static RULES: &[&Rule] = &[
    &email::EMAIL,
    &phone::INTERNATIONAL,
    &phone::NATIONAL,
    &phone::CONTEXT,
    &card::CARD,
    &iban::IBAN,
    &ssn::SSN_DASHED,
    &ssn::SSN_CONTEXT,
    &ssn::ITIN,
    &ip::IPV4,
    &ip::IPV6,
    &mac::MAC,
    &crypto::BASE58,
    &crypto::BECH32,
    &crypto::HEX,
    &url::URL,
    &url::DOMAIN,
    &url::USERINFO,
    &token::TOKEN,
    &token::JWT,
    &token::KEY_BLOCK,
    &token::DOTTED,
    &assign::PASSWORD,
    &assign::ASSIGNED,
    &credential::CREDENTIAL,
    &DENIED_KEY,
    &UNSCANNED,
];

/// One text on its way through the rules.
pub(crate) struct Scanner<'t> {
    text: &'t str,
    /// Where the text proper begins; before it stands the name of the field, as context only.
    base: usize,
    lexicon: &'t Lexicon,
    pub(crate) found: Vec<Candidate>,
    /// End of the last URL, so that one is not read again from within.
    pub(crate) url_end: usize,
    /// The `@` of a URL's userinfo, which is no e-mail address.
    pub(crate) userinfo_at: Option<usize>,
    /// End of the last word that was looked at for its digits.
    pub(crate) word_end: usize,
    /// No key block ends behind here.
    pub(crate) no_key_end: bool,
    /// For each alphabet of tokens the last run that was read.
    pub(crate) body_ends: [(usize, usize); 7],
    /// The same for values behind names, by what ties them.
    pub(crate) value_ends: [(usize, usize); 2],
    covered: Covered,
}

impl<'t> Scanner<'t> {
    pub(crate) fn new(text: &'t str, base: usize, lexicon: &'t Lexicon) -> Self {
        Self {
            text,
            base,
            lexicon,
            found: Vec::new(),
            url_end: 0,
            userinfo_at: None,
            word_end: 0,
            no_key_end: false,
            body_ends: [(0, 0); 7],
            value_ends: [(0, 0); 2],
            covered: Covered::default(),
        }
    }

    pub(crate) fn text(&self) -> &'t str {
        self.text
    }

    pub(crate) fn bytes(&self) -> &'t [u8] {
        self.text.as_bytes()
    }

    /// Notes a finding; one that lies in the field's name is dropped, one that begins there is cut.
    pub(crate) fn push(&mut self, rule: &'static Rule, start: usize, end: usize, score: f32) {
        let start = start.max(self.base);
        if start >= end {
            return;
        }
        self.found.push(Candidate {
            start,
            end,
            rule,
            score,
        });
        if MASKED_BY_DEFAULT & rule.entity.bit() != 0 && score >= 0.5 {
            self.covered.add(start, end);
        }
    }

    pub(crate) fn context(&self, start: usize, end: usize) -> Context {
        self.lexicon.around(self.bytes(), start, end, &self.covered)
    }

    /// Whether the text is nothing but numbers, as an answer to a question may be.
    pub(crate) fn is_bare(&self, start: usize, end: usize) -> bool {
        const LONGEST: usize = 80;
        let text = &self.bytes()[self.base..];
        self.base == 0
            && text.len() <= LONGEST
            && end - start >= 9
            && text
                .iter()
                .all(|byte| byte.is_ascii_digit() || b" -.()+/,;\n\r\t".contains(byte))
    }
}
