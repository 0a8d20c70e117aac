//! Appending turns: cut into transactions, each row with an answer of its own.

mod at_once;
mod columns;
mod decide;
mod held;
mod recover;
mod seen;
mod transaction;
mod trim;

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use throughline_conversation_memory::{AppendError, Appended, Cause, NewTurn, RejectReason};
use throughline_domain::{Clock, Ids, TenantId};

use self::transaction::{Failure, Outcome};
use crate::error::{Meaning, Shared, StoreError};
use crate::session::Sessions;
use crate::statement::ForTenants;

pub(super) static STATEMENTS: &[&ForTenants] = &[
    &at_once::FENCE,
    &at_once::AT_ONCE,
    &held::FREE,
    &transaction::LOCK,
    &transaction::NUMBER,
    &transaction::FIND,
    &columns::STORE,
];

/// Rows in one transaction at most, and the bytes of their texts: what a transaction may hold
/// locks for, and far below the gigabyte at which a parameter ends.
pub(crate) const ROWS: usize = 256;
pub(crate) const BYTES: u64 = 8 * 1024 * 1024;
/// A transaction is begun again after a deadlock or a serialization failure. Neither should
/// happen: rows are locked in one order everywhere.
const TRIES: u32 = 5;

/// One turn on its way in. It carries its tenant, so that one transaction can serve several.
#[derive(Clone, Copy)]
pub(crate) struct Row<'a> {
    pub(crate) tenant: &'a TenantId,
    pub(crate) turn: &'a NewTurn,
}

/// What became of one row.
pub(crate) type Answer = Result<Appended, AppendError>;

/// What an append needs.
pub(crate) struct Appender {
    /// Where the transactions run.
    pub(crate) sessions: Sessions,
    /// Where a lost answer is asked for: connections that did not just die.
    pub(crate) others: Sessions,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn Ids>,
    /// Whether rows are tried without a look first. Not on a database that is sharded by tenant: there
    /// the insert would be no statement of one shard.
    pub(crate) at_once: bool,
}

/// Appends rows of any tenants; the answers are in the order of the rows. Waits for whoever holds one of
/// the users.
pub(crate) async fn append(store: &Appender, rows: &[Row<'_>]) -> Vec<Answer> {
    let mut answers = append_free(store, rows).await;
    fill(store, rows, &mut answers, &vec![false; rows.len()]).await;
    answers.into_iter().flatten().collect()
}

/// As [`append`], but a row whose user is held by a merge, its undo, an erasure or a sweep is left out,
/// all rows of that user with it: `None`. The others do not wait for it.
pub(crate) async fn append_free(store: &Appender, rows: &[Row<'_>]) -> Vec<Option<Answer>> {
    if !store.at_once {
        let answers = step_by_step(store, rows).await;
        return answers.into_iter().map(Some).collect();
    }
    let mut answers = Vec::with_capacity(rows.len());
    for part in cut(rows) {
        answers.extend(append_part(store, &rows[part]).await);
    }
    answers
}

async fn append_part(store: &Appender, rows: &[Row<'_>]) -> Vec<Option<Answer>> {
    let mut held = vec![false; rows.len()];
    let mut answers = if let Ok(answers) = at_once::append(store, rows).await {
        answers
    } else {
        // Whoever cannot be asked is not held; the next step tells what is wrong.
        held = held::held(store, rows).await.unwrap_or(held);
        rows.iter().map(|_| None).collect()
    };
    fill(store, rows, &mut answers, &held).await;
    answers
}

/// Decides, step by step, on the rows that have no answer yet and are not to be left out.
async fn fill(
    store: &Appender,
    rows: &[Row<'_>],
    answers: &mut [Option<Answer>],
    left_out: &[bool],
) {
    let open = |place: &usize| answers[*place].is_none() && !left_out[*place];
    let places: Vec<usize> = (0..rows.len()).filter(open).collect();
    let open: Vec<Row<'_>> = places.iter().map(|&place| rows[place]).collect();
    for (place, answer) in places.into_iter().zip(step_by_step(store, &open).await) {
        answers[place] = Some(answer);
    }
}

/// Appends with a look at what stands before: what becomes of a row is decided here.
async fn step_by_step(store: &Appender, rows: &[Row<'_>]) -> Vec<Answer> {
    let mut answers = Vec::with_capacity(rows.len());
    // In order, so that the turns of one call get ascending numbers across its transactions.
    let mut parts = cut(rows);
    while let Some(part) = parts.pop_front() {
        let part_rows = &rows[part.clone()];
        match attempt(store, part_rows).await {
            Ok(outcomes) => answers.extend(outcomes.into_iter().zip(part_rows).map(answer)),
            // Something in it cannot be stored: it is found by halving, and costs only itself.
            Err(Failure::Before(error)) if error.meaning() == Meaning::Data => match halves(part) {
                Some((first, second)) => {
                    parts.push_front(second);
                    parts.push_front(first);
                }
                None => answers.extend(part_rows.iter().map(|row| unstorable(row, &error))),
            },
            Err(Failure::Before(error)) => {
                let cause = Shared(Arc::new(error));
                answers.extend(part_rows.iter().map(|row| transport(row, &cause)));
            }
            Err(Failure::Unknown { error, decided }) => {
                answers.extend(recover::answers(store, part_rows, &decided, error).await);
            }
        }
    }
    answers
}

/// One transaction's own error, for the test that looks into it.
#[cfg(test)]
pub(crate) async fn append_in(
    session: &crate::session::Session<'_>,
    rows: &[Row<'_>],
    store: &Appender,
) -> Result<(), StoreError> {
    match transaction::append_rows(session, rows, store).await {
        Ok(_) => Ok(()),
        Err(Failure::Before(error) | Failure::Unknown { error, .. }) => Err(error),
    }
}

/// One transaction, begun again as often as it makes sense.
async fn attempt<'a>(store: &Appender, rows: &[Row<'a>]) -> Result<Vec<Outcome>, Failure<'a>> {
    for _ in 0..TRIES {
        let session = store.sessions.session().await.map_err(Failure::Before)?;
        match transaction::append_rows(&session, rows, store).await {
            Err(Failure::Before(error))
                if error.meaning() == Meaning::Again || error.is_second_of_a_key() => {}
            Ok(outcomes) if outcomes.iter().any(Option::is_none) => {}
            Ok(outcomes) => return Ok(outcomes.into_iter().flatten().collect()),
            Err(failure) => return Err(failure),
        }
    }
    Err(Failure::Before(StoreError::Contended(TRIES)))
}

fn cut(rows: &[Row<'_>]) -> VecDeque<Range<usize>> {
    let mut parts = VecDeque::new();
    let (mut start, mut bytes) = (0, 0);
    for (index, row) in rows.iter().enumerate() {
        let full = index - start == ROWS || bytes + row.turn.bytes() > BYTES;
        if full && index > start {
            parts.push_back(start..index);
            (start, bytes) = (index, 0);
        }
        bytes += row.turn.bytes();
    }
    if start < rows.len() {
        parts.push_back(start..rows.len());
    }
    parts
}

fn halves(part: Range<usize>) -> Option<(Range<usize>, Range<usize>)> {
    let middle = part.start + part.len() / 2;
    (part.len() > 1).then_some((part.start..middle, middle..part.end))
}

fn answer((outcome, row): (Outcome, &Row<'_>)) -> Answer {
    outcome.map_err(|reason| AppendError::Rejected {
        key: row.turn.key().clone(),
        reason,
    })
}

fn transport(row: &Row<'_>, cause: &Shared) -> Answer {
    Err(AppendError::Transport {
        key: row.turn.key().clone(),
        cause: Cause::new(cause.clone()),
    })
}

fn unstorable(row: &Row<'_>, error: &StoreError) -> Answer {
    let cause: &dyn std::error::Error = error;
    tracing::warn!(
        tenant.id = %row.tenant,
        error = cause,
        "the database cannot store a turn that passed every check"
    );
    let key = row.turn.key().clone();
    Err(AppendError::Rejected {
        key,
        reason: RejectReason::Unstorable,
    })
}

#[cfg(test)]
mod tests {
    use throughline_conversation_memory::contract::turn;
    use throughline_domain::UserId;

    use super::*;

    #[test]
    fn a_batch_is_cut_by_rows_and_by_bytes_and_loses_none() {
        let tenant = TenantId::parse("acme").unwrap();
        let user = UserId::from_u128(1);
        let small = turn(user, "small").build();
        let large = turn(user, "large")
            .answered(&"x".repeat(1024 * 1024))
            .build();
        let rows = |turns: &[(&NewTurn, usize)]| -> Vec<usize> {
            let rows: Vec<Row<'_>> = turns
                .iter()
                .flat_map(|&(turn, count)| {
                    vec![
                        Row {
                            tenant: &tenant,
                            turn
                        };
                        count
                    ]
                })
                .map(|row| Row {
                    tenant: &tenant,
                    turn: row.turn,
                })
                .collect();
            cut(&rows).into_iter().map(|part| part.len()).collect()
        };
        assert_eq!(rows(&[]), [] as [usize; 0]);
        assert_eq!(rows(&[(&small, 256)]), [256]);
        assert_eq!(rows(&[(&small, 600)]), [256, 256, 88]);
        assert_eq!(rows(&[(&large, 9), (&small, 3)]), [7, 5]);
    }
}
