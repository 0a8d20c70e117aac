//! The key entries are sealed with: where it comes from, and how it is named without being shown.

use std::fmt;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::{GeneralPurpose, GeneralPurposeConfig};
use base64::{alphabet, engine::DecodePaddingMode};
use secrecy::zeroize::Zeroize;
use secrecy::{ExposeSecret, SecretBox};

const BYTES: usize = 32;

/// 256 random bits. Never printed; [`SpoolKey::id`] names it.
pub struct SpoolKey(SecretBox<[u8; BYTES]>);

/// Why there is no key.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The text is no key. The text is not shown.
    #[error("a spool key is 32 random bytes, written as 64 hex digits or as base64")]
    Malformed,
    /// The environment variable is not there.
    #[error("the environment variable {0} is not set")]
    NotSet(String),
    /// The file cannot be read.
    #[error("the key file {} cannot be read", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
}

impl SpoolKey {
    /// Takes the key from an environment variable.
    pub fn from_env(variable: &str) -> Result<Self, KeyError> {
        let mut text =
            std::env::var(variable).map_err(|_| KeyError::NotSet(variable.to_owned()))?;
        let key = Self::parse(&text);
        text.zeroize();
        key
    }

    /// Takes the key from a file that holds nothing else.
    pub fn from_file(path: &Path) -> Result<Self, KeyError> {
        let mut text = std::fs::read_to_string(path).map_err(|source| KeyError::Unreadable {
            path: path.to_owned(),
            source,
        })?;
        let key = Self::parse(&text);
        text.zeroize();
        key
    }

    /// Reads 64 hex digits, or base64 of 32 bytes in either alphabet, padded or not. White space
    /// around it is ignored.
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        let text = text.trim();
        let mut bytes = match text.len() {
            64 => hex::decode(text).map_err(|_| KeyError::Malformed)?,
            43 | 44 => decode_base64(text).ok_or(KeyError::Malformed)?,
            _ => return Err(KeyError::Malformed),
        };
        let key = <[u8; BYTES]>::try_from(bytes.as_slice()).map_err(|_| KeyError::Malformed);
        bytes.zeroize();
        key.map(Self::from_bytes)
    }

    /// Takes 32 bytes as they are.
    pub fn from_bytes(mut bytes: [u8; BYTES]) -> Self {
        let key = Self(SecretBox::new(Box::new(bytes)));
        bytes.zeroize();
        key
    }

    /// A name for the key that says nothing about it: the same key has the same name everywhere.
    pub fn id(&self) -> String {
        hex::encode(&self.derive("throughline spool key id")[..8])
    }

    /// A key for another purpose, so that no key is used for two things.
    pub(crate) fn derive(&self, purpose: &str) -> [u8; BYTES] {
        blake3::derive_key(purpose, self.0.expose_secret())
    }
}

fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let lenient =
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    [&alphabet::STANDARD, &alphabet::URL_SAFE]
        .into_iter()
        .find_map(|alphabet| GeneralPurpose::new(alphabet, lenient).decode(text).ok())
}

impl fmt::Debug for SpoolKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SpoolKey({})", self.id())
    }
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose;

    use super::*;

    #[test]
    fn one_key_has_one_id_in_every_spelling() {
        let bytes: [u8; 32] = std::array::from_fn(|i| u8::try_from(i * 7 + 3).unwrap());
        let id = SpoolKey::from_bytes(bytes).id();
        for text in [
            hex::encode(bytes),
            hex::encode_upper(bytes),
            general_purpose::STANDARD.encode(bytes),
            general_purpose::URL_SAFE_NO_PAD.encode(bytes),
            format!("  {}\n", hex::encode(bytes)),
        ] {
            assert_eq!(SpoolKey::parse(&text).unwrap().id(), id);
        }
    }

    #[test]
    fn what_is_no_key_is_refused_without_being_shown() {
        for text in [
            "",
            "short",
            &"g".repeat(64),
            &"?".repeat(44),
            &"A".repeat(42),
        ] {
            let error = SpoolKey::parse(text).unwrap_err();
            assert!(matches!(error, KeyError::Malformed));
            assert!(text.is_empty() || !error.to_string().contains(text));
        }
    }

    #[test]
    fn a_key_is_not_printed() {
        let bytes = [0xA7; 32];
        let shown = format!("{:?}", SpoolKey::from_bytes(bytes));
        assert!(!shown.contains(&hex::encode(&bytes[..4])) && !shown.contains("167"));
    }
}
