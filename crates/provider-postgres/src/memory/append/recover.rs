//! The commit was sent and its answer never came: what is true is asked on another connection (T-14).

use std::time::Duration;

use throughline_conversation_memory::{AppendError, Cause};
use throughline_domain::{TurnId, UserId};

use super::decide::Decision;
use super::seen::{Keys, UnderKey, found_keys, under_key};
use super::transaction::{FIND, keys};
use super::{Answer, Appender, Row};
use crate::error::{Shared, StoreError};

const ASK_FOR_AT_MOST: Duration = Duration::from_secs(2);
const ASK_AGAIN_AFTER: Duration = Duration::from_millis(50);

/// One answer a row. What was refused or found before the commit does not depend on it.
pub(super) async fn answers(
    store: &Appender,
    rows: &[Row<'_>],
    decided: &[Decision<'_>],
    error: StoreError,
) -> Vec<Answer> {
    let unknown: Vec<Row<'_>> = rows
        .iter()
        .zip(decided)
        .filter(|(_, decision)| matches!(decision, Decision::Store(_)))
        .map(|(row, _)| *row)
        .collect();
    let (found, cause) = found(store, &unknown, error).await;
    rows.iter()
        .zip(decided)
        .map(|(row, decision)| answer(*row, decision, decided, &found, &cause))
        .collect()
}

/// The same for rows that all went into the transaction, each for its own user and under this id. Whose
/// key is another turn's was there before, and was left out.
pub(super) async fn of_stored(
    store: &Appender,
    rows: &[(Row<'_>, TurnId)],
    error: StoreError,
) -> Vec<Answer> {
    let sent: Vec<Row<'_>> = rows.iter().map(|(row, _)| *row).collect();
    let (found, cause) = found(store, &sent, error).await;
    rows.iter()
        .map(|&(row, id)| match under_key(&found, row) {
            Some(UnderKey::Turn(existing)) if existing.id() != id => existing
                .again(row, row.turn.user())
                .map_err(|reason| AppendError::Rejected {
                    key: row.turn.key().clone(),
                    reason,
                }),
            _ => stored(row, row.turn.user(), &found, &cause),
        })
        .collect()
}

async fn found(store: &Appender, unknown: &[Row<'_>], error: StoreError) -> (Keys, Shared) {
    let found = ask(store, unknown).await;
    tracing::warn!(
        rows = unknown.len(),
        answered = found.is_some(),
        error = &error as &dyn std::error::Error,
        "the answer to a commit was lost"
    );
    (found.unwrap_or_default(), Shared(error.into()))
}

/// Asks until somebody answers, within the budget.
async fn ask(store: &Appender, rows: &[Row<'_>]) -> Option<Keys> {
    let (tenants, keys) = keys(rows);
    let now = store.clock.now().to_system_time();
    let asking = async {
        loop {
            let found = async {
                let session = store.others.session().await?;
                found_keys(&session.query_rows(&FIND, &tenants, &[&keys, &now]).await?)
            };
            match found.await {
                Ok(found) => return found,
                Err(error) => {
                    tracing::debug!(%error, "asking for the outcome of a commit failed");
                    tokio::time::sleep(ASK_AGAIN_AFTER).await;
                }
            }
        }
    };
    tokio::time::timeout(ASK_FOR_AT_MOST, asking).await.ok()
}

fn answer(
    row: Row<'_>,
    decision: &Decision<'_>,
    decided: &[Decision<'_>],
    found: &Keys,
    cause: &Shared,
) -> Answer {
    let key = row.turn.key().clone();
    let user = match decision {
        Decision::Refused(reason) => {
            return Err(AppendError::Rejected {
                key,
                reason: reason.clone(),
            });
        }
        Decision::Found(appended) => return Ok(*appended),
        Decision::Store(accepted) => accepted.user,
        Decision::SameAs(first) => match &decided[*first] {
            Decision::Store(accepted) => accepted.user,
            _ => row.turn.user(),
        },
    };
    stored(row, user, found, cause)
}

fn stored(row: Row<'_>, user: UserId, found: &Keys, cause: &Shared) -> Answer {
    let key = row.turn.key().clone();
    let cause = Cause::new(cause.clone());
    match under_key(found, row) {
        Some(UnderKey::Turn(existing)) => match existing.again(row, user) {
            Ok(appended) => Err(AppendError::Committed {
                key,
                turn_id: appended.turn_id,
                cause,
            }),
            Err(reason) => Err(AppendError::Rejected { key, reason }),
        },
        _ => Err(AppendError::Timeout { key, cause }),
    }
}
