//! One transaction that appends rows of any tenants, in two round trips: look, then store.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::future::{join, join4};
use throughline_conversation_memory::{Appended, RejectReason};
use throughline_domain::UserId;
use tokio_postgres::types::Type;
use uuid::Uuid;

use super::columns;
use super::decide::{Decision, decide};
use super::seen::{Fence, Seen};
use super::{Appender, Row, trim};
use crate::error::{Meaning, StoreError};
use crate::row::uuid;
use crate::session::Session;
use crate::statement::{ForTenants, Statement};

pub(super) static LOCK: ForTenants = ForTenants(Statement {
    name: "append_lock",
    sql: include_str!("append_lock.sql"),
    params: &[Type::TEXT_ARRAY, Type::UUID_ARRAY],
});

pub(super) static NUMBER: ForTenants = ForTenants(Statement {
    name: "append_number",
    sql: include_str!("append_number.sql"),
    params: &[Type::TEXT_ARRAY, Type::INT8_ARRAY],
});

pub(super) static FIND: ForTenants = ForTenants(Statement {
    name: "append_find",
    sql: include_str!("append_find.sql"),
    params: &[Type::TEXT_ARRAY, Type::TEXT_ARRAY, Type::TIMESTAMPTZ],
});

/// Each look but the first means that an account went to another survivor between being found and
/// being locked.
const LOOKS: u32 = 16;

/// What became of a row whose transaction has ended.
pub(super) type Outcome = Result<Appended, RejectReason>;

/// Why a transaction gave no outcomes.
pub(super) enum Failure<'a> {
    /// Nothing of it is stored.
    Before(StoreError),
    /// Its commit was sent and not answered: what was decided may be stored or not.
    Unknown {
        error: StoreError,
        decided: Vec<Decision<'a>>,
    },
}

/// Appends the rows and commits. A row without an outcome met a key that appeared out of nowhere:
/// begin again.
pub(super) async fn append_rows<'a>(
    session: &Session<'_>,
    rows: &[Row<'a>],
    store: &Appender,
) -> Result<Vec<Option<Outcome>>, Failure<'a>> {
    session
        .prepare(super::STATEMENTS)
        .await
        .map_err(Failure::Before)?;
    let mut trimming = true;
    for _ in 0..LOOKS {
        let now = store.clock.now();
        let seen = match look(session, rows, now.to_system_time()).await {
            Ok(seen) => seen,
            Err(error) => return Err(given_up(session, error).await),
        };
        let Some(users) = survivors(rows, &seen) else {
            session.rollback().await.map_err(Failure::Before)?;
            continue;
        };
        let decided = decide(rows, &users, &seen, now, &*store.ids);
        if decided
            .iter()
            .any(|decision| matches!(decision, Decision::Store(_)))
        {
            let trims = trim::due(&decided, &seen, now);
            let now = now.to_system_time();
            if trims.is_empty() || !trimming {
                return finish(session, decided, now).await;
            }
            match finish_with(session, decided, trims, now).await? {
                Some(outcomes) => return Ok(outcomes),
                None => trimming = false,
            }
            continue;
        }
        session.rollback().await.map_err(Failure::Before)?;
        return Ok(outcomes(&decided, &BTreeSet::new()));
    }
    Err(Failure::Before(StoreError::Contended(LOOKS)))
}

/// The first round trip: fence, numbers, keys. Each statement is sent without waiting for the
/// last one's answer, and sees what was committed before it itself began: the keys are read
/// under the lock of the numbers.
async fn look(
    session: &Session<'_>,
    rows: &[Row<'_>],
    now: std::time::SystemTime,
) -> Result<Seen, StoreError> {
    let people: BTreeSet<(&str, Uuid)> = rows
        .iter()
        .map(|row| (row.tenant.as_str(), uuid(row.turn.user().as_u128())))
        .collect();
    let (user_tenants, user_ids): (Vec<_>, Vec<_>) = people.into_iter().unzip();
    let mut turns: BTreeMap<&str, i64> = BTreeMap::new();
    for row in rows {
        *turns.entry(row.tenant.as_str()).or_default() += 1;
    }
    let (tenants, turns): (Vec<_>, Vec<_>) = turns.into_iter().unzip();
    let (key_tenants, keys) = keys(rows);
    let (begun, fences, numbers, found) = join4(
        session.begin(),
        session.query_rows(&LOCK, &user_tenants, &[&user_ids]),
        session.query_rows(&NUMBER, &tenants, &[&turns]),
        session.query_rows(&FIND, &key_tenants, &[&keys, &now]),
    )
    .await;
    begun?;
    Seen::read(&fences?, &numbers?, &found?)
}

/// The distinct keys with their tenants, sorted.
pub(super) fn keys<'a>(rows: &[Row<'a>]) -> (Vec<&'a str>, Vec<&'a str>) {
    let keys: BTreeSet<(&str, &str)> = rows
        .iter()
        .map(|row| (row.tenant.as_str(), row.turn.key().as_str()))
        .collect();
    keys.into_iter().unzip()
}

/// Whom each row is stored for; `None` when a survivor is not the one that was locked, so that the
/// look has to be repeated.
fn survivors(rows: &[Row<'_>], seen: &Seen) -> Option<Vec<UserId>> {
    let survivor = |row: &Row<'_>| match seen.fence(row.tenant, row.turn.user()) {
        Some(Fence::Merged(into)) => seen.fence(row.tenant, into).map(|_| into),
        Some(Fence::Active | Fence::Forgotten) | None => Some(row.turn.user()),
    };
    rows.iter().map(survivor).collect()
}

/// The second round trip: insert, count, commit. A failed insert turns the commit behind it into
/// a rollback.
async fn finish<'a>(
    session: &Session<'_>,
    decided: Vec<Decision<'a>>,
    now: std::time::SystemTime,
) -> Result<Vec<Option<Outcome>>, Failure<'a>> {
    let columns = columns::Columns::of(&decided);
    let (stored, committed) = join(columns.store(session, now), session.commit()).await;
    match (stored, committed) {
        (Ok(stored), Ok(())) => Ok(outcomes(&decided, &stored)),
        // The server refused the insert, so it cannot have committed it.
        (Err(error @ StoreError::Refused { .. }), _) => Err(Failure::Before(error)),
        (Ok(_), Err(error)) if error.is_abort() => Err(Failure::Before(error)),
        (Err(error), _) | (Ok(_), Err(error)) => Err(Failure::Unknown { error, decided }),
    }
}

/// The second round trip for people far over a cap, in which their oldest turns make room (T-70). One
/// step after the other: what makes room is prepared where it is needed. `None` when their counters
/// are wrong: a turn is not refused for that, and the next sweep mends them.
async fn finish_with<'a>(
    session: &Session<'_>,
    decided: Vec<Decision<'a>>,
    trims: Vec<trim::Trim<'a>>,
    now: std::time::SystemTime,
) -> Result<Option<Vec<Option<Outcome>>>, Failure<'a>> {
    let columns = columns::Columns::of(&decided);
    let stored = match columns.store(session, now).await {
        Ok(stored) => stored,
        Err(error) => return Err(given_up(session, error).await),
    };
    match trim::make_room(session, &trims, now).await {
        Ok(()) => {}
        Err(error) if error.meaning() == Meaning::Data => {
            session.rollback().await.map_err(Failure::Before)?;
            return Ok(None);
        }
        Err(error) => return Err(given_up(session, error).await),
    }
    match session.commit().await {
        Ok(()) => Ok(Some(outcomes(&decided, &stored))),
        Err(error) if error.is_abort() => Err(Failure::Before(error)),
        Err(error) => Err(Failure::Unknown { error, decided }),
    }
}

/// Nothing was committed yet. A connection that still answers is made ready for the next caller.
async fn given_up<'a>(session: &Session<'_>, error: StoreError) -> Failure<'a> {
    let answers = error.is_abort() || matches!(error, StoreError::Corrupt { .. });
    if answers && let Err(error) = session.rollback().await {
        tracing::debug!(%error, "an append could not be rolled back; its connection is closed");
    }
    Failure::Before(error)
}

fn outcomes(decided: &[Decision<'_>], stored: &BTreeSet<Uuid>) -> Vec<Option<Outcome>> {
    let outcome = |decision: &Decision<'_>| match decision {
        Decision::Refused(reason) => Some(Err(reason.clone())),
        Decision::Found(appended) => Some(Ok(*appended)),
        Decision::Store(accepted) => stored
            .contains(&uuid(accepted.id.as_u128()))
            .then(|| Ok(accepted.appended())),
        Decision::SameAs(_) => None,
    };
    decided
        .iter()
        .map(|decision| match decision {
            Decision::SameAs(first) => {
                outcome(&decided[*first]).map(|first| first.map(super::decide::as_duplicate))
            }
            decision => outcome(decision),
        })
        .collect()
}
