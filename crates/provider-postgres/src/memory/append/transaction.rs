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
use super::{Appender, Row};
use crate::error::StoreError;
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

/// Merges point at a root, so one redirection is enough; another one means that somebody merged
/// that root in between.
const REDIRECTIONS: u32 = 4;

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
    let mut users: Vec<UserId> = rows.iter().map(|row| row.turn.user()).collect();
    for _ in 0..REDIRECTIONS {
        let now = store.clock.now();
        let seen = match look(session, rows, &users, now.to_system_time()).await {
            Ok(seen) => seen,
            Err(error) => return Err(given_up(session, error).await),
        };
        if redirect(&mut users, rows, &seen) {
            session.rollback().await.map_err(Failure::Before)?;
            continue;
        }
        let decided = decide(rows, &users, &seen, now, &*store.ids);
        if decided
            .iter()
            .any(|decision| matches!(decision, Decision::Store(_)))
        {
            return finish(session, decided, now.to_system_time()).await;
        }
        session.rollback().await.map_err(Failure::Before)?;
        return Ok(outcomes(&decided, &BTreeSet::new()));
    }
    Err(Failure::Before(StoreError::Contended(REDIRECTIONS)))
}

/// The first round trip: fence, numbers, keys. Each statement is sent without waiting for the
/// last one's answer, and sees what was committed before it itself began: the keys are read
/// under the lock of the numbers.
async fn look(
    session: &Session<'_>,
    rows: &[Row<'_>],
    users: &[UserId],
    now: std::time::SystemTime,
) -> Result<Seen, StoreError> {
    let people: BTreeSet<(&str, Uuid)> = rows
        .iter()
        .zip(users)
        .map(|(row, user)| (row.tenant.as_str(), uuid(user.as_u128())))
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

/// Puts survivors in the place of merged users; they have to be locked, so the look is repeated.
fn redirect(users: &mut [UserId], rows: &[Row<'_>], seen: &Seen) -> bool {
    let mut redirected = false;
    for (user, row) in users.iter_mut().zip(rows) {
        if let Some(Fence::Merged(into)) = seen.fence(row.tenant, *user) {
            *user = into;
            redirected = true;
        }
    }
    redirected
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
