//! Storing turns.

use std::sync::Arc;

use throughline_conversation_memory::{
    AppendError, AppendOutcome, Appended, Landing, NewTurn, RejectReason, landing_time,
};
use throughline_domain::{Ids, TenantId, Timestamp, TurnId};

use crate::retention::trim;
use crate::state::{Log, Row, TenantState};

/// Every turn is refused: the tenant is not there.
pub(super) fn refuse(turns: Vec<NewTurn>, tenant: &TenantId) -> Vec<Result<Appended, AppendError>> {
    let reason = RejectReason::UnknownTenant(tenant.clone());
    turns
        .into_iter()
        .map(|turn| Err(rejected(&turn, reason.clone())))
        .collect()
}

/// One step for the whole batch, so no other turn's place falls between two of its turns.
pub(super) fn batch(
    state: &mut TenantState,
    turns: Vec<NewTurn>,
    ids: &dyn Ids,
    now: Timestamp,
) -> Vec<Result<Appended, AppendError>> {
    turns
        .into_iter()
        .map(|turn| one(state, turn, ids, now))
        .collect()
}

/// The order of the questions matters: a stored turn is found again however old it has become since.
fn one(
    state: &mut TenantState,
    turn: NewTurn,
    ids: &dyn Ids,
    now: Timestamp,
) -> Result<Appended, AppendError> {
    // The fence: a merged id stands for its survivor, a forgotten one is refused (D-05).
    let Some(user) = state.people.root(turn.user()) else {
        let forgotten = state.people.status(turn.user()).is_some();
        let reason = if forgotten {
            RejectReason::Gone
        } else {
            RejectReason::UnknownUser
        };
        return Err(rejected(&turn, reason));
    };
    if let Some(stored) = state.log.by_key.get(turn.key()) {
        return if stored.user == user && stored.said.digest() == turn.digest() {
            Ok(answer(AppendOutcome::Duplicate, stored))
        } else {
            Err(rejected(&turn, RejectReason::IdempotencyMismatch))
        };
    }
    let tombstone = turn.key().digest(&state.tenant.id);
    if state
        .log
        .tombstones
        .get(&tombstone)
        .is_some_and(|until| now < *until)
    {
        return Err(rejected(&turn, RejectReason::Gone));
    }
    let ttl = state.tenant.config.ttl();
    let Landing::At(created_at) = landing_time(turn.said_at(), now, ttl) else {
        return Err(rejected(&turn, RejectReason::Expired));
    };
    let row = Arc::new(Row {
        id: TurnId::new(ids.ulid(now)),
        seq: state.log.last_seq + 1,
        user,
        origin: turn.user(),
        created_at,
        expires_at: created_at.plus(ttl),
        said: Arc::new(turn),
        failures: 0,
    });
    state.log.insert(row.clone());
    trim(state, user, now);
    Ok(answer(AppendOutcome::Stored, &row))
}

fn rejected(turn: &NewTurn, reason: RejectReason) -> AppendError {
    AppendError::Rejected {
        key: turn.key().clone(),
        reason,
    }
}

fn answer(outcome: AppendOutcome, row: &Row) -> Appended {
    Appended {
        outcome,
        turn_id: row.id,
        user_id: row.user,
        seq: row.seq,
        redaction_state: row.said.redaction().state(),
    }
}

impl Log {
    /// Puts the row into every index and moves the counters with it.
    fn insert(&mut self, row: Arc<Row>) {
        self.last_seq = row.seq;
        let scope = self.by_scope.entry(row.said.scope().clone()).or_default();
        scope.insert(row.position(), row.clone());
        self.put(row);
    }
}
