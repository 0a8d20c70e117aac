//! Which rows of a batch go in, decided on what the transaction saw. No I/O.

use std::collections::HashMap;
use std::time::Duration;

use throughline_conversation_memory::{
    AppendOutcome, Appended, Landing, RejectReason, landing_time,
};
use throughline_domain::{Ids, TenantId, Timestamp, TurnId, UserId};
use throughline_tenancy::TenantConfig;

use super::Row;
use super::seen::{Fence, Seen, UnderKey};

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
        let earlier = first.get(&key).map(|&first| (first, &decided[first]));
        let decision = match (admit(row, user, seen), earlier) {
            (Err(reason), _) => Decision::Refused(reason),
            (Ok(_), Some((first, Decision::Store(accepted)))) => repeat(row, user, first, accepted),
            (Ok(config), _) => place(row, user, seen, config.ttl(), now).map_or_else(
                |settled| settled,
                |times| {
                    Decision::Store(Accepted {
                        row,
                        user,
                        id: TurnId::new(ids.ulid(now)),
                        seq: numbers.next(row.tenant),
                        created_at: times.0,
                        expires_at: times.1,
                    })
                },
            ),
        };
        if matches!(decision, Decision::Store(_)) {
            first.insert(key, index);
        }
        decided.push(decision);
    }
    decided
}

/// Whether tenant and user can be written to at all.
fn admit<'s>(row: Row<'_>, user: UserId, seen: &'s Seen) -> Result<&'s TenantConfig, RejectReason> {
    let Some((_, config)) = seen.tenant(row.tenant) else {
        return Err(RejectReason::UnknownTenant(row.tenant.clone()));
    };
    match seen.fence(row.tenant, user) {
        Some(Fence::Active) => Ok(config),
        Some(Fence::Forgotten) => Err(RejectReason::Gone),
        // Merged ids were replaced by their survivors before.
        Some(Fence::Merged(_)) | None => Err(RejectReason::UnknownUser),
    }
}

/// A key that an earlier row of the batch goes in with.
fn repeat<'a>(row: Row<'_>, user: UserId, first: usize, accepted: &Accepted<'_>) -> Decision<'a> {
    if accepted.row.turn.digest() == row.turn.digest() && accepted.user == user {
        Decision::SameAs(first)
    } else {
        Decision::Refused(RejectReason::IdempotencyMismatch)
    }
}

/// When the turn was said and when it ends, or what has been settled about its key already.
fn place<'a>(
    row: Row<'_>,
    user: UserId,
    seen: &Seen,
    ttl: Duration,
    now: Timestamp,
) -> Result<(Timestamp, Timestamp), Decision<'a>> {
    match seen.under_key(row) {
        Some(UnderKey::Turn(existing)) => {
            return Err(existing
                .again(row, user)
                .map_or_else(Decision::Refused, Decision::Found));
        }
        Some(UnderKey::Tombstone) => return Err(Decision::Refused(RejectReason::Gone)),
        None => {}
    }
    match landing_time(row.turn.said_at(), now, ttl) {
        Landing::Expired => Err(Decision::Refused(RejectReason::Expired)),
        Landing::At(created_at) => Ok((created_at, created_at.plus(ttl))),
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
            if let Some((last, _)) = seen.tenant(row.tenant) {
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
