//! An access key as a record: everything but the token.

use throughline_domain::{Actor, KeyId, Timestamp};

use crate::{Scopes, Token};

/// What an operator asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewKey {
    /// A note for people, at most 128 bytes.
    pub label: String,
    /// What the key may do.
    pub scopes: Scopes,
}

/// A key as it can be listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRecord {
    /// Its public part.
    pub id: KeyId,
    /// The note for people.
    pub label: String,
    /// What it may do; empty for an operator's key, which is not bound by scopes.
    pub scopes: Scopes,
    /// Set for an operator's key.
    pub actor: Option<Actor>,
    /// When it was minted.
    pub created_at: Timestamp,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
}

/// A new key with the only copy of its token.
#[derive(Debug)]
pub struct MintedKey {
    /// The record.
    pub record: KeyRecord,
    /// To be shown once.
    pub token: Token,
}
