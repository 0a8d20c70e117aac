//! Minting and revoking keys, a tenant's and the operators' alike.

use throughline_domain::{Actor, Ids, KeyId, Timestamp};
use throughline_tenancy::{KeyOwner, KeyRecord, MintedKey, Scopes, TenancyError, Token};

use crate::state::Keys;

/// The record of a key that is about to be minted.
pub(super) fn record(
    ids: &dyn Ids,
    label: String,
    scopes: Scopes,
    actor: Option<Actor>,
    now: Timestamp,
) -> KeyRecord {
    KeyRecord {
        id: KeyId::new(ids.ulid(now)),
        label,
        scopes,
        actor,
        created_at: now,
        revoked_at: None,
    }
}

impl Keys {
    /// Keeps the record and the token's hash; the token itself leaves with the answer.
    pub(super) fn mint(
        &mut self,
        owner: &KeyOwner,
        record: KeyRecord,
        secret: &[u8; 32],
    ) -> MintedKey {
        let token = Token::assemble(owner, record.id, secret);
        let hash = *token.hash().as_bytes();
        self.by_hash.insert(hash, self.records.len());
        self.records.push(record.clone());
        MintedKey { record, token }
    }

    /// The record stays, for the list; the first moment stays too.
    pub(super) fn revoke(&mut self, key: KeyId, now: Timestamp) -> Result<KeyRecord, TenancyError> {
        let mut records = self.records.iter_mut();
        let record = records
            .find(|record| record.id == key)
            .ok_or(TenancyError::UnknownKey(key))?;
        record.revoked_at.get_or_insert(now);
        Ok(record.clone())
    }

    /// The key this very token was minted for, unless revoked.
    pub(super) fn valid(&self, hash: &[u8; 32]) -> Option<&KeyRecord> {
        let record = self.records.get(*self.by_hash.get(hash)?)?;
        record.revoked_at.is_none().then_some(record)
    }
}
