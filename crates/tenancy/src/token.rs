//! The token a client sends: which key it claims to be, and the secret that proves it.
//!
//! `tlk_<tenant or "operator">:<key id>:<secret>`; the secret is 256 random bits, so its hash needs
//! no work factor (a slow hash a request would be a self-made denial of service). The tenant stands in
//! the token, so that finding a key is a look-up by (tenant, key id), as on any sharded schema.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use throughline_domain::{KeyId, TenantId};

const PREFIX: &str = "tlk_";
const OPERATOR: &str = "operator";
const HASH_CONTEXT: &str = "throughline 2026-11 access key token";

/// Whose key a token claims to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyOwner {
    /// A tenant's.
    Tenant(TenantId),
    /// An operator's.
    Operator,
}

/// A token as it was sent. Prints as `***`.
#[derive(Clone)]
pub struct Token(String);

/// What is stored of a token.
#[derive(Clone, Copy)]
pub struct KeyHash([u8; 32]);

impl Token {
    /// Puts a new token together.
    pub fn assemble(owner: &KeyOwner, key: KeyId, secret: &[u8; 32]) -> Self {
        let owner = match owner {
            KeyOwner::Tenant(tenant) => tenant.to_string(),
            // No tenant name has a colon, so no tenant can be taken for an operator.
            KeyOwner::Operator => format!(":{OPERATOR}"),
        };
        Self(format!(
            "{PREFIX}{owner}:{key}:{}",
            URL_SAFE_NO_PAD.encode(secret)
        ))
    }

    /// Takes whatever a caller sent; it need not be well-formed.
    pub fn from_header(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// Which key this claims to be; `None` when it is not of our shape.
    pub fn claims(&self) -> Option<(KeyOwner, KeyId)> {
        let rest = self.0.strip_prefix(PREFIX)?;
        let (rest, _secret) = rest.rsplit_once(':')?;
        let (owner, key) = rest.rsplit_once(':')?;
        let owner = match owner.strip_prefix(':') {
            Some(word) if word == OPERATOR => KeyOwner::Operator,
            Some(_) => return None,
            None => KeyOwner::Tenant(TenantId::parse(owner).ok()?),
        };
        Some((owner, key.parse().ok()?))
    }

    /// What a store keeps and compares.
    pub fn hash(&self) -> KeyHash {
        KeyHash(blake3::derive_key(HASH_CONTEXT, self.0.as_bytes()))
    }

    /// The secret text, to be shown to its owner once.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(***)")
    }
}

impl KeyHash {
    /// The bytes a store keeps.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The bytes a store kept; `None` when they are not 32.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }
}

/// Compares in constant time.
impl PartialEq for KeyHash {
    fn eq(&self, other: &Self) -> bool {
        blake3::Hash::from(self.0) == blake3::Hash::from(other.0)
    }
}

impl Eq for KeyHash {}

impl fmt::Debug for KeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyHash(***)")
    }
}

#[cfg(test)]
mod tests {
    use throughline_domain::{Ids, SeededIds, Timestamp};

    use super::*;

    fn key_id() -> KeyId {
        KeyId::new(SeededIds::from_seed(7).ulid(Timestamp::from_millis(1)))
    }

    #[test]
    fn a_token_says_whose_it_is_and_hides_when_printed() {
        let acme = KeyOwner::Tenant(TenantId::parse("acme-corp").unwrap());
        for owner in [acme, KeyOwner::Operator] {
            let token = Token::assemble(&owner, key_id(), &[9; 32]);
            assert_eq!(token.claims(), Some((owner, key_id())));
            assert_eq!(
                format!("{token:?} {:?}", token.hash()),
                "Token(***) KeyHash(***)"
            );
        }
    }

    // failures.md 10: no glued key crosses a tenant, not even one named like our own word.
    #[test]
    fn a_tenant_named_operator_is_no_operator() {
        let tenant = KeyOwner::Tenant(TenantId::parse("operator").unwrap());
        let token = Token::assemble(&tenant, key_id(), &[9; 32]);
        assert_eq!(token.claims(), Some((tenant, key_id())));
    }

    #[test]
    fn other_texts_claim_nothing() {
        for text in [
            "",
            "tlk_",
            "tlk_a:b:c",
            "tlk_::x:y",
            "x",
            "tlk_acme:01J:s",
            "tlk_:root:01J0000000000000000000000A:s",
        ] {
            assert_eq!(Token::from_header(text).claims(), None, "{text:?}");
        }
    }

    #[test]
    fn one_changed_character_changes_the_hash() {
        let token = Token::assemble(&KeyOwner::Operator, key_id(), &[9; 32]);
        let other = Token::assemble(&KeyOwner::Operator, key_id(), &[8; 32]);
        assert!(token.hash() == token.clone().hash());
        assert!(token.hash() != other.hash());
    }
}
