//! One address, one spelling: when two e-mail addresses are the same mailbox.
//!
//! Pure and versioned: a store keeps the version beside what it normalised, so that a later rule can
//! find the rows of an earlier one. The address as it was given is always kept too.

use std::fmt;

use idna::uts46::{AsciiDenyList, DnsLength, Hyphens, Uts46};
use unicode_normalization::UnicodeNormalization;

/// The rules of [`NormalizedEmail::of`], counted up by every change that could give one address
/// another form.
pub const EMAIL_NORMALIZER_VERSION: i16 = 1;

/// An address in the form that is compared. Debug shows nothing of it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NormalizedEmail(String);

impl NormalizedEmail {
    /// The normal form: outer white space gone, Unicode NFC, lower case, the domain as IDNA writes
    /// it; at gmail.com and googlemail.com also without dots and `+tag`, at gmail.com. Nothing else
    /// is folded: elsewhere `a.b` and `ab` are two people, and so are a Latin and a Cyrillic `a`.
    ///
    /// `None` for a text without exactly one `@` between two non-empty parts, with white space or a
    /// control character inside, or with a domain that no name server could answer for. Such an
    /// address is kept, and never claims anybody.
    pub fn of(raw: &str) -> Option<Self> {
        let (local, domain) = raw.trim().split_once('@')?;
        if domain.contains('@') || local.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return None;
        }
        let domain = Uts46::new()
            .to_ascii(
                domain.as_bytes(),
                AsciiDenyList::STD3,
                // Registered names with hyphens in places 3 and 4 exist.
                Hyphens::Allow,
                DnsLength::Verify,
            )
            .ok()?;
        let local = fold_case(local);
        let (local, domain) = match &*domain {
            "gmail.com" | "googlemail.com" => (gmail_mailbox(&local), "gmail.com"),
            domain => (local, domain),
        };
        (!local.is_empty()).then(|| Self(format!("{local}@{domain}")))
    }

    /// A normal form that a store kept.
    pub fn from_stored(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// The text that is compared.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Lower-casing can decompose (`İ`), so the composed form is taken again afterwards.
fn fold_case(local: &str) -> String {
    let composed: String = local.nfc().collect();
    composed.to_lowercase().nfc().collect()
}

fn gmail_mailbox(local: &str) -> String {
    let mailbox = local.split('+').next().unwrap_or_default();
    mailbox.chars().filter(|&c| c != '.').collect()
}

impl fmt::Debug for NormalizedEmail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NormalizedEmail(***)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal(raw: &str) -> Option<String> {
        NormalizedEmail::of(raw).map(|email| email.0)
    }

    // failures.md 20
    #[test]
    fn one_mailbox_has_one_form() {
        for (one, other) in [
            ("A.B+x@GoogleMail.com", "ab@gmail.com"),
            (" ab@gmail.com\n", "a.b@GMAIL.com"),
            ("Mina@Corp.com", "mina@corp.com"),
            ("jose\u{301}@corp.com", "jos\u{e9}@corp.com"),
            ("a@B\u{fc}cher.example", "a@xn--bcher-kva.example"),
            ("a@bu\u{308}cher.example", "a@xn--bcher-kva.example"),
        ] {
            assert_eq!(normal(one), normal(other), "{one} {other}");
            assert!(normal(one).is_some(), "{one}");
        }
        assert_eq!(normal("A.B+x@GoogleMail.com").unwrap(), "ab@gmail.com");
    }

    // failures.md 20
    #[test]
    fn two_mailboxes_keep_two_forms() {
        for (one, other) in [
            ("a.b@corp.com", "ab@corp.com"),
            ("a+x@corp.com", "a@corp.com"),
            ("\u{430}@corp.com", "a@corp.com"),
            ("a@\u{430}pple.com", "a@apple.com"),
            ("a@mail.gmail.com", "a@gmail.com"),
            ("a@corp.com", "a@corp.org"),
        ] {
            assert!(normal(one).is_some() && normal(other).is_some(), "{one}");
            assert_ne!(normal(one), normal(other), "{one} {other}");
        }
    }

    // failures.md 20
    #[test]
    fn what_is_no_single_mailbox_has_no_form() {
        for raw in [
            "",
            " ",
            "@",
            "a",
            "a@",
            "@corp.com",
            " @corp.com",
            "a@b@corp.com",
            "a@@corp.com",
            "a@ ",
            "a b@corp.com",
            "a\u{200b}\n@corp.com",
            "a@corp com",
            "a@corp..com",
            "a@.com",
            "a@corp.com.",
            "a@corp_com",
            "+tag@gmail.com",
            "...@gmail.com",
            "a@corp.com\u{ff20}b",
        ] {
            assert_eq!(normal(raw), None, "{raw:?}");
        }
    }

    #[test]
    fn debug_output_shows_no_address() {
        let email = NormalizedEmail::of("mina@corp.com").unwrap();
        assert_eq!(format!("{email:?}"), "NormalizedEmail(***)");
    }

    proptest::proptest! {
        #[test]
        fn a_normal_form_is_its_own_normal_form(raw in "\\PC{1,20}@[a-zA-Z0-9äöß\\.-]{1,20}") {
            if let Some(email) = NormalizedEmail::of(&raw) {
                proptest::prop_assert_eq!(NormalizedEmail::of(email.as_str()), Some(email));
            }
        }

        #[test]
        fn case_and_composition_never_matter(local in "[a-zA-Zäöüé\\.+]{1,12}", domain in "[a-zA-Zäöü]{1,12}\\.(com|example)") {
            let raw = format!("{local}@{domain}");
            let decomposed: String = raw.nfd().collect();
            proptest::prop_assert_eq!(NormalizedEmail::of(&raw), NormalizedEmail::of(&raw.to_uppercase()));
            proptest::prop_assert_eq!(NormalizedEmail::of(&raw), NormalizedEmail::of(&decomposed));
        }

        #[test]
        fn dots_and_tags_matter_everywhere_but_at_gmail(a in "[a-z]{1,6}", b in "[a-z]{1,6}", tag in "[a-z.]{0,6}", domain in "[a-z]{1,8}\\.(org|net)") {
            let plain = format!("{a}{b}");
            for spelled in [format!("{a}.{b}"), format!("{plain}+{tag}")] {
                let at = |host: &str, local: &str| NormalizedEmail::of(&format!("{local}@{host}"));
                proptest::prop_assert_eq!(at("googlemail.com", &spelled), at("gmail.com", &plain));
                proptest::prop_assert_ne!(at(&domain, &spelled), at(&domain, &plain));
            }
        }

        #[test]
        fn no_text_makes_it_panic(raw in "[\\s\\S]{0,40}") {
            let _ = NormalizedEmail::of(&raw);
        }
    }
}
