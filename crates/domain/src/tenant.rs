//! The tenant: the wall nothing crosses.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A tenant's name: 1..=64 of `a-z 0-9 . _ -`, other than `.` and `..`: a client takes those for steps in
/// a path and walks them away, so that nobody could be called by them. There is no default and no conversion from a bare
/// string: a value exists because something checked it (D-01, R-131).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TenantId(Arc<str>);

/// The text is no tenant name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "a tenant name has 1 to 64 characters out of a-z, 0-9, '.', '_' and '-', and is not '.' or '..'"
)]
pub struct InvalidTenantId;

impl TenantId {
    /// The longest name, in characters.
    pub const MAX_CHARS: usize = 64;

    /// Accepts exactly the names of D-01; nothing is trimmed or folded.
    pub fn parse(name: &str) -> Result<Self, InvalidTenantId> {
        let allowed =
            |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'.' | b'_' | b'-');
        let is_step = matches!(name, "." | "..");
        if (1..=Self::MAX_CHARS).contains(&name.len()) && name.bytes().all(allowed) && !is_step {
            Ok(Self(name.into()))
        } else {
            Err(InvalidTenantId)
        }
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TenantId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for TenantId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TenantId({})", self.0)
    }
}

impl Serialize for TenantId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for TenantId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = std::borrow::Cow::<str>::deserialize(deserializer)?;
        Self::parse(&name).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_names_are_tenants() {
        for good in [
            "a",
            "acme",
            "acme-corp",
            "acme_corp",
            "acme.1",
            ".a",
            "...",
            &"x".repeat(64),
        ] {
            assert_eq!(TenantId::parse(good).unwrap().as_str(), good);
        }
        for bad in [
            "",
            " ",
            "Acme",
            "a b",
            "a/b",
            "a:b",
            "acmé",
            "a\0",
            ".",
            "..",
            &"x".repeat(65),
        ] {
            assert_eq!(TenantId::parse(bad), Err(InvalidTenantId), "{bad:?}");
        }
    }
}
