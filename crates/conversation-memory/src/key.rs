//! The caller's name for one turn, the ground of idempotency.

use sha2::{Digest, Sha256};
use throughline_domain::{TenantId, TextFault, check_text};

use crate::{ChannelKind, ChannelScope};

/// A caller's key for one turn, unique within its tenant: 1..=128 characters, not blank, no NUL.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClientMessageId(String);

/// The text is no key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidKey {
    /// Blank, or with a NUL.
    #[error("client_message_id is not usable")]
    Text(#[source] TextFault),
    /// Too many characters.
    #[error("client_message_id has more than {max} characters")]
    TooLong {
        /// What is allowed.
        max: usize,
    },
}

impl ClientMessageId {
    /// The longest key, in characters.
    pub const MAX_CHARS: usize = 128;

    /// Accepts the caller's key as it is.
    pub fn parse(text: &str) -> Result<Self, InvalidKey> {
        check_text(text, 1, Self::MAX_CHARS * 4).map_err(|fault| match fault {
            TextFault::TooLong { .. } => InvalidKey::TooLong {
                max: Self::MAX_CHARS,
            },
            fault => InvalidKey::Text(fault),
        })?;
        if text.chars().count() > Self::MAX_CHARS {
            return Err(InvalidKey::TooLong {
                max: Self::MAX_CHARS,
            });
        }
        Ok(Self(text.to_owned()))
    }

    /// The key for a caller that names its turn only within one channel scope (T-12): `t:` and the
    /// SHA-256 of tenant, kind, scope and turn id, each with its length in front, so that no two
    /// different lists of parts glue to one text.
    pub fn from_turn_id(tenant: &TenantId, scope: &ChannelScope, turn_id: &str) -> Self {
        let parts = [tenant.as_str(), scope.kind().as_str(), scope.id(), turn_id];
        Self::hashed("t:", &parts)
    }

    /// The key for a channel's own message: `c:` and the SHA-256 of kind, workspace, channel and message
    /// id. A channel that delivers a message again does so under another event id; these four stay, so
    /// that the turn is stored once (failures.md 4). Use the id of the message that the turn answers.
    pub fn from_channel_message(
        kind: &ChannelKind,
        workspace: &str,
        channel: &str,
        message_id: &str,
    ) -> Self {
        Self::hashed("c:", &[kind.as_str(), workspace, channel, message_id])
    }

    /// Each part goes in with its length in front.
    fn hashed(prefix: &str, parts: &[&str]) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        Self(format!("{prefix}{}", hex::encode(hash.finalize())))
    }

    /// What a store keeps of the key of a deleted turn: the key itself can name a person, its SHA-256
    /// only tells whether it comes again. No tenant's name has a colon, so the parts never glue.
    pub fn digest(&self, tenant: &TenantId) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(tenant.as_str());
        hash.update(":");
        hash.update(&self.0);
        hash.finalize().into()
    }

    /// The key.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_1_to_128_characters_however_many_bytes() {
        assert!(ClientMessageId::parse(&"é".repeat(128)).is_ok());
        assert!(ClientMessageId::parse(&"😀".repeat(128)).is_ok());
        assert!(ClientMessageId::parse(&"é".repeat(129)).is_err());
        assert!(ClientMessageId::parse(&"😀".repeat(129)).is_err());
        for bad in ["", " ", "a\0"] {
            assert!(ClientMessageId::parse(bad).is_err(), "{bad:?}");
        }
    }

    // failures.md 10
    #[test]
    fn derived_keys_never_glue_their_parts() {
        let key = |tenant: &str, scope: &str, turn: &str| {
            let scope = ChannelScope::new(ChannelKind::parse("custom").unwrap(), scope).unwrap();
            ClientMessageId::from_turn_id(&TenantId::parse(tenant).unwrap(), &scope, turn)
        };
        assert_eq!(key("a", "s", "t"), key("a", "s", "t"));
        assert_eq!(key("a", "s", "t").as_str().len(), 66);
        assert_ne!(key("a", "sb", "c"), key("a", "s", "bc"));
        assert_ne!(key("a", "s", "t"), key("b", "s", "t"));
    }

    // failures.md 4 and 10
    #[test]
    fn a_message_delivered_again_has_the_same_key_and_no_other_message_has_it() {
        let key = |kind: &str, workspace: &str, channel: &str, message: &str| {
            let kind = ChannelKind::parse(kind).unwrap();
            ClientMessageId::from_channel_message(&kind, workspace, channel, message)
        };
        let first = key("slack-user", "T1", "C1", "1700000000.000100");
        assert_eq!(first, key("slack-user", "T1", "C1", "1700000000.000100"));
        assert!(ClientMessageId::parse(first.as_str()).is_ok());
        assert_ne!(first, key("teams-aad", "T1", "C1", "1700000000.000100"));
        assert_ne!(
            key("slack-user", "T", "1C", "1"),
            key("slack-user", "T1", "C", "1")
        );
        assert_ne!(
            key("slack-user", "T", "C1", "1"),
            key("slack-user", "T", "C", "11")
        );
    }
}
