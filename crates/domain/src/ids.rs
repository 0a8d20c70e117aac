//! Ids: ULIDs outside, 16 bytes inside, one newtype per meaning.

use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use ulid::Ulid;

use crate::Timestamp;

/// The text is no ULID.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "an id is a ULID: 26 upper-case characters of Crockford's base 32; send it as it was given"
)]
pub struct InvalidId;

/// Takes the one spelling that we print. Crockford's lower case and its I, L and O are refused, and so is
/// a text of more than 128 bits: an id with two spellings would be two rows to whoever keeps the text.
fn parse_ulid(text: &str) -> Result<Ulid, InvalidId> {
    Ulid::from_string(text)
        .ok()
        .filter(|id| id.array_to_str(&mut [0; ulid::ULID_LEN]) == text)
        .ok_or(InvalidId)
}

macro_rules! ulid_newtypes {
    ($($(#[$doc:meta])* $name:ident)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Ulid);

        impl $name {
            /// Wraps a ULID that [`Ids`] made.
            pub fn new(id: Ulid) -> Self {
                Self(id)
            }

            /// The id as the 128-bit number a store keeps.
            pub fn as_u128(self) -> u128 {
                self.0.0
            }

            /// The id a store kept.
            pub const fn from_u128(id: u128) -> Self {
                Self(Ulid(id))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;
            fn from_str(text: &str) -> Result<Self, InvalidId> {
                parse_ulid(text).map(Self)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    )+};
}

ulid_newtypes! {
    /// A stable person, whatever channel they speak through.
    UserId
    /// One finished turn. Also called the message id over HTTP.
    TurnId
    /// An access key's public part.
    KeyId
    /// One append that waits to be stored.
    OutboxId
    /// One process among those that share the work.
    WorkerId
    /// One merge of two users, to undo it by.
    MergeId
    /// One question to an operator.
    ReviewId
    /// One entry of the audit trail.
    AuditId
}

/// Where every component takes ids and secrets from.
pub trait Ids: Send + Sync {
    /// A new id whose time part is `at`.
    fn ulid(&self, at: Timestamp) -> Ulid;

    /// 256 random bits for a secret.
    fn secret(&self) -> [u8; 32];

    /// Any number, for jitter.
    fn number(&self) -> u64 {
        let [a, b, c, d, e, f, g, h, ..] = self.secret();
        u64::from_le_bytes([a, b, c, d, e, f, g, h])
    }
}

/// Ids and secrets from the operating system's randomness.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemIds;

impl Ids for SystemIds {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place where ambient randomness enters"
    )]
    fn ulid(&self, at: Timestamp) -> Ulid {
        let millis = u64::try_from(at.as_millis()).unwrap_or(0);
        Ulid::from_parts(millis, rand::Rng::random(&mut rand::rng()))
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the one place where ambient randomness enters"
    )]
    fn secret(&self) -> [u8; 32] {
        // rand's thread generator is a CSPRNG seeded and reseeded by the operating system.
        rand::Rng::random(&mut rand::rng())
    }
}

/// Ids that count upwards: the same run gives the same ids.
#[derive(Debug, Default)]
pub struct SeededIds(AtomicU64);

impl SeededIds {
    /// Starts counting at `seed`; two sources with seeds far apart never collide.
    pub fn from_seed(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }
}

impl Ids for SeededIds {
    fn ulid(&self, at: Timestamp) -> Ulid {
        let millis = u64::try_from(at.as_millis()).unwrap_or(0);
        Ulid::from_parts(millis, u128::from(self.0.fetch_add(1, Ordering::SeqCst)))
    }

    fn secret(&self) -> [u8; 32] {
        let mut secret = [0; 32];
        secret[..8].copy_from_slice(&self.0.fetch_add(1, Ordering::SeqCst).to_be_bytes());
        secret
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_survives_text_and_number() {
        let id = UserId::new(SystemIds.ulid(Timestamp::from_millis(1_700_000_000_000)));
        assert_eq!(id.to_string().parse(), Ok(id));
        assert_eq!(UserId::from_u128(id.as_u128()), id);
        assert_eq!("not an id".parse::<UserId>(), Err(InvalidId));
    }

    #[test]
    fn an_id_has_one_spelling() {
        let id = UserId::from_u128(0x0189_ABCD_0123_4567_89AB_CDEF_0123_4567);
        let text = id.to_string();
        assert_eq!(text.parse(), Ok(id));
        // The decoder drops the bits beyond 128, and reads I and L as 1, O as 0.
        let overflowing = ["8", "G", "Z"].map(|first| format!("{first}{}", &text[1..]));
        let aliased = ["I", "L", "i", "l"].map(|one| text.replace('1', one));
        let others = [
            text.to_lowercase(),
            text.replace('0', "O"),
            format!(" {text}"),
            format!("{text}0"),
            text[1..].to_owned(),
        ];
        for other in overflowing.into_iter().chain(aliased).chain(others) {
            assert_ne!(other, text);
            assert_eq!(other.parse::<UserId>(), Err(InvalidId), "{other}");
            let json = format!("\"{other}\"");
            assert!(serde_json::from_str::<UserId>(&json).is_err(), "{other}");
        }
        for edge in [u128::MIN, u128::MAX].map(UserId::from_u128) {
            assert_eq!(edge.to_string().parse(), Ok(edge));
        }
    }
}
