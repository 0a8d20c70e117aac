//! Which rows of a batch go in, decided on what the transaction saw. No I/O.

use std::collections::HashMap;

use throughline_conversation_memory::{
    AppendOutcome, Appended, Landing, RedactionState, RejectReason, RequestDigest, landing_time,
};
use throughline_domain::{Ids, TenantId, Timestamp, TurnId, UserId};
use throughline_tenancy::TenantConfig;
use uuid::Uuid;

use super::Row;
use crate::error::StoreError;
use crate::row::Reader;

/// What is to happen with a row.
pub(super) enum Decision<'a> {
    /// It is refused.
    Refused(RejectReason),
    /// It is in the log already.
    Found(Appended),
    /// It goes in.
    Store(Accepted<'a>),
    /// It repeats a row of this batch that goes in.
    SameAs(usize),
}

/// A row that goes in.
pub(super) struct Accepted<'a> {
    pub(super) row: Row<'a>,
    pub(super) user: UserId,
    pub(super) id: TurnId,
    pub(super) seq: u64,
    pub(super) created_at: Timestamp,
    pub(super) expires_at: Timestamp,
}

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

/// What the transaction saw, under its locks.
#[derive(Default)]
pub(super) struct Seen {
    fences: HashMap<(String, UserId), Fence>,
    /// A tenant's last number of this batch, and how long it keeps turns.
    tenants: HashMap<String, (u64, TenantConfig)>,
    /// `None` is a tombstone.
    keys: HashMap<String, HashMap<String, Option<Existing>>>,
}

impl Accepted<'_> {
    pub(super) fn appended(&self) -> Appended {
        Appended {
            outcome: AppendOutcome::Stored,
            turn_id: self.id,
            user_id: self.user,
            seq: self.seq,
            redaction_state: self.row.turn.redaction().state(),
        }
    }
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
            let row = Reader {
                row,
                table: "users",
                key: String::new(),
            };
            let user = UserId::from_u128(row.get::<Uuid>("user_id")?.as_u128());
            let row = Reader {
                key: user.to_string(),
                ..row
            };
            let into: Option<Uuid> = row.get("merged_into")?;
            let fence = match (row.get("status")?, into) {
                ("active", _) => Fence::Active,
                ("merged", Some(into)) => Fence::Merged(UserId::from_u128(into.as_u128())),
                ("forgotten", _) => Fence::Forgotten,
                _ => return Err(row.corrupt("status")),
            };
            seen.fences.insert((row.get("tenant_id")?, user), fence);
        }
        for row in numbers {
            let row = Reader {
                row,
                table: "tenant_streams",
                key: String::new(),
            };
            let tenant: String = row.get("tenant_id")?;
            let days: i32 = row.get("ttl_days")?;
            let ttl_days = u32::try_from(days).map_err(|_| row.corrupt("ttl_days"))?;
            seen.tenants.insert(
                tenant,
                (
                    row.number("seq")?,
                    TenantConfig {
                        ttl_days,
                        ..TenantConfig::default()
                    },
                ),
            );
        }
        Ok(seen)
    }

    pub(super) fn fence(&self, tenant: &TenantId, user: UserId) -> Option<Fence> {
        self.fences
            .get(&(tenant.as_str().to_owned(), user))
            .copied()
    }
}

/// What stands under each key, by tenant.
pub(super) fn found_keys(
    found: &[tokio_postgres::Row],
) -> Result<HashMap<String, HashMap<String, Option<Existing>>>, StoreError> {
    let mut keys: HashMap<String, HashMap<String, Option<Existing>>> = HashMap::new();
    for row in found {
        let row = Reader {
            row,
            table: "cross_channel_messages",
            key: String::new(),
        };
        let existing = match row.get::<Option<Uuid>>("id")? {
            Some(id) => {
                let id = TurnId::from_u128(id.as_u128());
                Some(Existing::read(
                    id,
                    &Reader {
                        key: id.to_string(),
                        ..row
                    },
                )?)
            }
            None => None,
        };
        let row = Reader {
            row: row.row,
            table: row.table,
            key: String::new(),
        };
        let of_tenant = keys.entry(row.get("tenant_id")?).or_default();
        of_tenant.insert(row.get("client_message_id")?, existing);
    }
    Ok(keys)
}

impl Existing {
    fn read(id: TurnId, row: &Reader<'_>) -> Result<Self, StoreError> {
        let user = UserId::from_u128(row.get::<Uuid>("user_id")?.as_u128());
        let digest = RequestDigest::from_bytes(row.get("request_digest")?);
        Ok(Self {
            digest: digest.ok_or_else(|| row.corrupt("request_digest"))?,
            user,
            origin: UserId::from_u128(row.get::<Uuid>("origin_user_id")?.as_u128()),
            appended: Appended {
                outcome: AppendOutcome::Duplicate,
                turn_id: id,
                user_id: user,
                seq: row.number("seq")?,
                redaction_state: row.parsed("redaction_state", RedactionState::parse)?,
            },
        })
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

/// The same turn within one batch.
pub(super) fn as_duplicate(first: Appended) -> Appended {
    Appended {
        outcome: AppendOutcome::Duplicate,
        ..first
    }
}

/// One decision a row, in order. `users` are the rows' users with merged ids replaced.
pub(super) fn decide<'a>(
    rows: &[Row<'a>],
    users: &[UserId],
    seen: &Seen,
    now: Timestamp,
    ids: &dyn Ids,
) -> Vec<Decision<'a>> {
    let mut decided: Vec<Decision<'a>> = Vec::with_capacity(rows.len());
    let mut numbers = Numbers::of(rows, seen);
    let mut first: HashMap<(&str, &str), usize> = HashMap::new();
    for (index, (&row, &user)) in rows.iter().zip(users).enumerate() {
        let key = (row.tenant.as_str(), row.turn.key().as_str());
        let decision = match first.get(&key).map(|&first| (first, &decided[first])) {
            Some((first, Decision::Store(accepted))) => {
                let same = accepted.row.turn.digest() == row.turn.digest() && accepted.user == user;
                if same {
                    Decision::SameAs(first)
                } else {
                    Decision::Refused(RejectReason::IdempotencyMismatch)
                }
            }
            _ => decide_alone(row, user, seen, now, ids, &mut numbers),
        };
        if matches!(decision, Decision::Store(_)) {
            first.insert(key, index);
        }
        decided.push(decision);
    }
    decided
}

fn decide_alone<'a>(
    row: Row<'a>,
    user: UserId,
    seen: &Seen,
    now: Timestamp,
    ids: &dyn Ids,
    numbers: &mut Numbers<'a>,
) -> Decision<'a> {
    let Some((_, config)) = seen.tenants.get(row.tenant.as_str()) else {
        return Decision::Refused(RejectReason::UnknownTenant(row.tenant.clone()));
    };
    match seen.fence(row.tenant, user) {
        Some(Fence::Active) => {}
        Some(Fence::Forgotten) => return Decision::Refused(RejectReason::Gone),
        // A merged id was replaced by its survivor before.
        Some(Fence::Merged(_)) | None => return Decision::Refused(RejectReason::UnknownUser),
    }
    let of_tenant = seen.keys.get(row.tenant.as_str());
    match of_tenant.and_then(|keys| keys.get(row.turn.key().as_str())) {
        Some(Some(existing)) => match existing.again(row, user) {
            Ok(appended) => return Decision::Found(appended),
            Err(reason) => return Decision::Refused(reason),
        },
        Some(None) => return Decision::Refused(RejectReason::Gone),
        None => {}
    }
    let ttl = config.ttl();
    match landing_time(row.turn.said_at(), now, ttl) {
        Landing::Expired => Decision::Refused(RejectReason::Expired),
        Landing::At(created_at) => Decision::Store(Accepted {
            row,
            user,
            id: TurnId::new(ids.ulid(now)),
            seq: numbers.next(row.tenant),
            created_at,
            expires_at: created_at.plus(ttl),
        }),
    }
}

/// The numbers taken for the batch, handed out in the order of the rows; those of refused rows stay
/// unused at the end.
struct Numbers<'a>(HashMap<&'a str, u64>);

impl<'a> Numbers<'a> {
    fn of(rows: &[Row<'a>], seen: &Seen) -> Self {
        let mut next: HashMap<&'a str, u64> = HashMap::new();
        for row in rows {
            let tenant = row.tenant.as_str();
            if let Some((last, _)) = seen.tenants.get(tenant) {
                let next = next.entry(tenant).or_insert(last + 1);
                *next = next.saturating_sub(1);
            }
        }
        Self(next)
    }

    fn next(&mut self, tenant: &'a TenantId) -> u64 {
        let next = self.0.entry(tenant.as_str()).or_default();
        let number = *next;
        *next += 1;
        number
    }
}
