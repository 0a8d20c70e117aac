//! What a transaction saw under its locks: fences, numbers, keys.

use std::collections::HashMap;

use throughline_conversation_memory::{
    AppendOutcome, Appended, RedactionState, RejectReason, RequestDigest, Usage,
};
use throughline_domain::{TenantId, TurnId, UserId};
use throughline_tenancy::TenantConfig;
use uuid::Uuid;

use super::Row;
use crate::error::StoreError;
use crate::row::Reader;

/// Whether a user can be written to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Fence {
    Active,
    Merged(UserId),
    Forgotten,
}

/// A turn under a key.
pub(super) struct Existing {
    digest: RequestDigest,
    user: UserId,
    origin: UserId,
    appended: Appended,
}

/// What stands under a key.
pub(super) enum UnderKey {
    Turn(Existing),
    Tombstone,
}

/// What stands under each key, by tenant.
pub(super) type Keys = HashMap<String, HashMap<String, UnderKey>>;

/// What the transaction saw, under its locks.
#[derive(Default)]
pub(super) struct Seen {
    fences: HashMap<(String, UserId), (Fence, Usage)>,
    /// A tenant's last number of this batch, and its rules.
    tenants: HashMap<String, (u64, TenantConfig)>,
    keys: Keys,
}

impl Seen {
    pub(super) fn read(
        fences: &[tokio_postgres::Row],
        numbers: &[tokio_postgres::Row],
        found: &[tokio_postgres::Row],
    ) -> Result<Self, StoreError> {
        let mut seen = Self {
            keys: found_keys(found)?,
            ..Self::default()
        };
        for row in fences {
            let row = Reader::of(row, "users");
            let user = row.user("user_id")?;
            let row = row.keyed(&user);
            let into: Option<Uuid> = row.get("merged_into")?;
            let fence = match (row.get("status")?, into) {
                ("active", _) => Fence::Active,
                ("merged", Some(into)) => Fence::Merged(UserId::from_u128(into.as_u128())),
                ("forgotten", _) => Fence::Forgotten,
                _ => return Err(row.corrupt("status")),
            };
            let usage = Usage {
                turn_count: row.number("turn_count")?,
                byte_count: row.number("byte_count")?,
            };
            let place = (row.get("tenant_id")?, user);
            seen.fences.insert(place, (fence, usage));
        }
        for row in numbers {
            let row = Reader::of(row, "tenant_streams");
            let tenant: String = row.get("tenant_id")?;
            let config = row.parsed("config", |text| serde_json::from_str(text).ok())?;
            seen.tenants.insert(tenant, (row.number("seq")?, config));
        }
        Ok(seen)
    }

    /// The tenant's last number of this batch and its rules.
    pub(super) fn tenant(&self, tenant: &TenantId) -> Option<(u64, &TenantConfig)> {
        self.tenants
            .get(tenant.as_str())
            .map(|(last, config)| (*last, config))
    }

    /// What stands under the row's key.
    pub(super) fn under_key(&self, row: Row<'_>) -> Option<&UnderKey> {
        under_key(&self.keys, row)
    }

    pub(super) fn fence(&self, tenant: &TenantId, user: UserId) -> Option<Fence> {
        let place = (tenant.as_str().to_owned(), user);
        self.fences.get(&place).map(|(fence, _)| *fence)
    }

    /// How much was stored for the user before this batch.
    pub(super) fn usage(&self, tenant: &TenantId, user: UserId) -> Usage {
        let place = (tenant.as_str().to_owned(), user);
        self.fences
            .get(&place)
            .map(|(_, usage)| *usage)
            .unwrap_or_default()
    }
}

/// What stands under the row's key.
pub(super) fn under_key<'k>(keys: &'k Keys, row: Row<'_>) -> Option<&'k UnderKey> {
    keys.get(row.tenant.as_str())?.get(row.turn.key().as_str())
}

/// The keys out of their rows.
pub(super) fn found_keys(found: &[tokio_postgres::Row]) -> Result<Keys, StoreError> {
    let mut keys = Keys::new();
    for row in found {
        let row = Reader::of(row, "cross_channel_messages");
        let (tenant, key) = (row.get("tenant_id")?, row.get("client_message_id")?);
        let under_key = match row.get::<Option<Uuid>>("id")? {
            Some(id) => {
                let id = TurnId::from_u128(id.as_u128());
                UnderKey::Turn(Existing::read(id, &row.keyed(&id))?)
            }
            None => UnderKey::Tombstone,
        };
        keys.entry(tenant).or_default().insert(key, under_key);
    }
    Ok(keys)
}

impl Existing {
    fn read(id: TurnId, row: &Reader<'_>) -> Result<Self, StoreError> {
        let user = row.user("user_id")?;
        let digest = RequestDigest::from_bytes(row.get("request_digest")?);
        Ok(Self {
            digest: digest.ok_or_else(|| row.corrupt("request_digest"))?,
            user,
            origin: row.user("origin_user_id")?,
            appended: Appended {
                outcome: AppendOutcome::Duplicate,
                turn_id: id,
                user_id: user,
                seq: row.number("seq")?,
                redaction_state: row.parsed("redaction_state", RedactionState::parse)?,
            },
        })
    }

    pub(super) fn id(&self) -> TurnId {
        self.appended.turn_id
    }

    /// The stored turn, if it is this one again: what was said and who said it agree. The person
    /// counts, not the id; the account stays with its person through every merge.
    pub(super) fn again(&self, row: Row<'_>, user: UserId) -> Result<Appended, RejectReason> {
        let same_person = self.user == user || self.origin == row.turn.user();
        if self.digest == row.turn.digest() && same_person {
            Ok(self.appended)
        } else {
            Err(RejectReason::IdempotencyMismatch)
        }
    }
}
