//! Where a turn was said: channel kind, scope within it, and the canvas it belongs to.

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
/// same id under two kinds is two scopes (T-21).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
