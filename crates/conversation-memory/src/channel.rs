//! Where a turn was said: channel kind, scope within it, and the canvas it belongs to.

use std::fmt;

use throughline_domain::{TextFault, check_text};

/// A channel's kind: 1..=64 of `a-z 0-9 . _ -`, such as `slack-user`. Any such word is stored;
/// metrics know only the usual ones (T-75).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChannelKind(String);

/// A name cannot be stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidName {
    /// The channel kind is not a plain word.
    #[error("channel_kind has 1 to 64 characters out of a-z, 0-9, '.', '_' and '-'")]
    Kind,
    /// The channel scope.
    #[error("channel_scope is not usable")]
    Scope(#[source] TextFault),
    /// The canvas session id.
    #[error("canvas_session_id is not usable")]
    Canvas(#[source] TextFault),
}

impl ChannelKind {
    /// Accepts a plain word as it is.
    pub fn parse(word: &str) -> Result<Self, InvalidName> {
        let allowed =
            |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'.' | b'_' | b'-');
        if (1..=64).contains(&word.len()) && word.bytes().all(allowed) {
            Ok(Self(word.to_owned()))
        } else {
            Err(InvalidName::Kind)
        }
    }

    /// The word.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// One conversation of one channel: kind and the channel's own id for it, 1..=512 bytes, opaque. The
/// same id under two kinds is two scopes (T-21). Debug shows the kind only: the id may be a phone
/// number (T-66).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChannelScope {
    kind: ChannelKind,
    id: String,
}

impl ChannelScope {
    /// The longest scope id, in bytes.
    pub const MAX_BYTES: usize = 512;

    /// Checks the id.
    pub fn new(kind: ChannelKind, id: &str) -> Result<Self, InvalidName> {
        check_text(id, 1, Self::MAX_BYTES).map_err(InvalidName::Scope)?;
        Ok(Self {
            kind,
            id: id.to_owned(),
        })
    }

    /// The channel kind.
    pub fn kind(&self) -> &ChannelKind {
        &self.kind
    }

    /// The channel's own id.
    pub fn id(&self) -> &str {
        &self.id
    }
}

impl fmt::Debug for ChannelScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ChannelScope({}, ***)", self.kind.as_str())
    }
}

/// The canvas (task thread) a turn belongs to: 1..=128 bytes, opaque.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CanvasSessionId(String);

impl CanvasSessionId {
    /// The longest id, in bytes.
    pub const MAX_BYTES: usize = 128;

    /// Checks the id.
    pub fn parse(id: &str) -> Result<Self, InvalidName> {
        check_text(id, 1, Self::MAX_BYTES).map_err(InvalidName::Canvas)?;
        Ok(Self(id.to_owned()))
    }

    /// The id.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(word: &str) -> Result<ChannelKind, InvalidName> {
        ChannelKind::parse(word)
    }

    #[test]
    fn a_kind_is_a_plain_word() {
        for good in ["slack-user", "a", "9", "a.b_c-d", &"x".repeat(64)] {
            assert_eq!(kind(good).unwrap().as_str(), good);
        }
        for bad in ["", " ", "Slack", "a b", "a:b", "é", "a\0", &"x".repeat(65)] {
            assert_eq!(kind(bad), Err(InvalidName::Kind), "{bad:?}");
        }
    }

    // failures.md 7, 11, 25: 1 to the limit in bytes, never blank, no NUL, otherwise untouched.
    #[test]
    fn scope_and_canvas_ids_are_opaque_but_never_blank() {
        let scope = |id: &str| ChannelScope::new(kind("custom").unwrap(), id).is_ok();
        let canvas = |id: &str| CanvasSessionId::parse(id).is_ok();
        for bad in ["", " ", "\t\n", "a\0b"] {
            assert!(!scope(bad) && !canvas(bad), "{bad:?}");
        }
        for good in [" a ", "C024/1700000000.000100", "é", "a:b"] {
            assert!(scope(good) && canvas(good), "{good:?}");
        }
        for (bytes, accepted) in [(511, true), (512, true), (513, false)] {
            assert_eq!(scope(&"x".repeat(bytes)), accepted, "{bytes}");
        }
        for (bytes, accepted) in [(127, true), (128, true), (129, false)] {
            assert_eq!(canvas(&"x".repeat(bytes)), accepted, "{bytes}");
        }
        assert!(!scope(&"é".repeat(257)) && scope(&"é".repeat(256)));
    }

    // failures.md 33, T-66
    #[test]
    fn debug_output_shows_no_scope_id() {
        let scope = ChannelScope::new(kind("whatsapp-phone").unwrap(), "4179").unwrap();
        assert_eq!(format!("{scope:?}"), "ChannelScope(whatsapp-phone, ***)");
    }
}
