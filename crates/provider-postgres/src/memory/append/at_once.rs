//! Rows about which there is nothing to decide, in one round trip: fence, insert, commit.
//!
//! That is nearly every turn. The insert itself leaves out what needs a decision (a key that is known,
//! an account that was merged or forgotten, a person far over a cap), and those rows are looked at
//! step by step in a transaction of their own (`docs/adr/0044`).

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::time::Duration;

use futures_util::future::join4;
use throughline_conversation_memory::{AppendOutcome, Appended, Landing, landing_time};
use throughline_domain::{Timestamp, TurnId, UserId};
use throughline_tenancy::TenantConfig;
use tokio_postgres::types::Type;
use uuid::Uuid;

use super::columns::{TurnColumns, with_turn_types};
use super::{Answer, Appender, Row, recover};
use crate::error::{Meaning, StoreError};
use crate::row::{Reader, bigint, uuid};
use crate::session::Param;
use crate::statement::{ForTenants, Statement};

pub(super) static FENCE: ForTenants = ForTenants(Statement {
    name: "append_fence",
    sql: include_str!("append_fence.sql"),
    params: &[
        Type::TEXT_ARRAY,
        Type::UUID_ARRAY,
        Type::TEXT_ARRAY,
        Type::INT8_ARRAY,
    ],
});

pub(super) static AT_ONCE: ForTenants = ForTenants(Statement {
    name: "append_at_once",
    sql: include_str!("append_at_once.sql"),
    params: with_turn_types![INT8_ARRAY, INT8_ARRAY, INT8_ARRAY, INT8, INT8],
});

/// The shortest retention a tenant can have: a turn said within it is expired nowhere.
const SHORTEST_RETENTION: Duration = Duration::from_hours(24);

/// A row that can be stored without a look at it.
struct Plain<'a> {
    /// Its place among the rows.
    place: usize,
    row: Row<'a>,
    id: TurnId,
    created_at: Timestamp,
}

/// One of the users is held by somebody, and nothing is stored.
pub(super) struct Held;

/// Stores what needs no decision; the answers are in the order of the rows, and `None` is a row that
/// has to be decided on.
pub(super) async fn append(
    store: &Appender,
    rows: &[Row<'_>],
) -> Result<Vec<Option<Answer>>, Held> {
    let mut answers: Vec<Option<Answer>> = rows.iter().map(|_| None).collect();
    let now = store.clock.now();
    let plain = plain(store, rows, now);
    if plain.is_empty() {
        return Ok(answers);
    }
    match commit(store, &plain, now).await {
        Ok(stored) => {
            for plain in &plain {
                answers[plain.place] = stored
                    .get(&uuid(plain.id.as_u128()))
                    .map(|&seq| Ok(plain.appended(seq)));
            }
        }
        Err(Failure::Before(error)) if error.is_held() => return Err(Held),
        // One of the rows is at fault, or another writer was faster: a closer look finds out.
        Err(Failure::Before(error)) if error.meaning() != Meaning::Unavailable => {}
        Err(Failure::Before(error)) => {
            let cause = crate::error::Shared(error.into());
            for (row, answer) in rows.iter().zip(&mut answers) {
                *answer = Some(super::transport(row, &cause));
            }
        }
        Err(Failure::Unknown(error)) => {
            let sent: Vec<_> = plain.iter().map(|plain| (plain.row, plain.id)).collect();
            let asked = recover::of_stored(store, &sent, error).await;
            for (plain, answer) in plain.iter().zip(asked) {
                answers[plain.place] = Some(answer);
            }
        }
    }
    Ok(answers)
}

/// The rows that may be stored without a look: each key once, and nothing that was said so long ago
/// that a retention could have ended. A user with one that has to be looked at waits with all, so that
/// the turns of a call are stored in their order.
fn plain<'a>(store: &Appender, rows: &[Row<'a>], now: Timestamp) -> Vec<Plain<'a>> {
    let mut keys = HashSet::with_capacity(rows.len());
    let mut waiting: HashSet<(&str, UserId)> = HashSet::new();
    let mut plain = Vec::with_capacity(rows.len());
    for (place, &row) in rows.iter().enumerate() {
        let user = (row.tenant.as_str(), row.turn.user());
        let landing = landing_time(row.turn.said_at(), now, SHORTEST_RETENTION);
        let Landing::At(created_at) = landing else {
            waiting.insert(user);
            continue;
        };
        if waiting.contains(&user) || !keys.insert((user.0, row.turn.key().as_str())) {
            continue;
        }
        plain.push(Plain {
            place,
            row,
            id: TurnId::new(store.ids.ulid(now)),
            created_at,
        });
    }
    plain
}

enum Failure {
    /// Nothing of it is stored.
    Before(StoreError),
    /// Its commit was sent and not answered.
    Unknown(StoreError),
}

/// One transaction in one round trip; gives the number of each row that went in.
async fn commit(
    store: &Appender,
    rows: &[Plain<'_>],
    now: Timestamp,
) -> Result<HashMap<Uuid, u64>, Failure> {
    let session = store.sessions.session().await.map_err(Failure::Before)?;
    session
        .prepare(&[&FENCE, &AT_ONCE])
        .await
        .map_err(Failure::Before)?;
    let people: BTreeSet<(&str, Uuid)> = rows.iter().map(Plain::person).collect();
    let (user_tenants, user_ids): (Vec<_>, Vec<_>) = people.into_iter().unzip();
    let columns = Columns::of(rows);
    // Each is sent without waiting for the last one's answer. Behind a statement that fails, the commit
    // becomes a rollback.
    let fence: &[Param<'_>] = &[&user_ids, &columns.streams, &columns.stream_turns];
    let (begun, fenced, stored, committed) = join4(
        session.begin_at_once(),
        session.query_rows(&FENCE, &user_tenants, fence),
        columns.store(&session, now),
        session.commit(),
    )
    .await;
    let refused = [begun.err(), fenced.err()].into_iter().flatten().next();
    match (refused, stored, committed) {
        (None, Ok(stored), Ok(())) => Ok(stored),
        // The server refused a statement before the commit, so it cannot have committed it.
        (Some(error), ..) | (None, Err(error), _)
            if matches!(error, StoreError::Refused { .. }) =>
        {
            Err(Failure::Before(error))
        }
        (None, Ok(_), Err(error)) if error.is_abort() => Err(Failure::Before(error)),
        (Some(error), ..) | (None, Err(error), _) | (None, Ok(_), Err(error)) => {
            Err(Failure::Unknown(error))
        }
    }
}

impl<'a> Plain<'a> {
    fn person(&self) -> (&'a str, Uuid) {
        (
            self.row.tenant.as_str(),
            uuid(self.row.turn.user().as_u128()),
        )
    }

    fn appended(&self, seq: u64) -> Appended {
        Appended {
            outcome: AppendOutcome::Stored,
            turn_id: self.id,
            user_id: self.row.turn.user(),
            seq,
            redaction_state: self.row.turn.redaction().state(),
        }
    }
}

/// The rows as arrays, and what the insert weighs them with.
#[derive(Default)]
struct Columns<'a> {
    turns: TurnColumns<'a>,
    /// How many rows of the same tenant come after this one: its number counts back from the last.
    behind: Vec<i64>,
    /// What the whole batch adds to the row's user.
    user_turns: Vec<i64>,
    user_bytes: Vec<i64>,
    streams: Vec<&'a str>,
    stream_turns: Vec<i64>,
}

impl<'a> Columns<'a> {
    fn of(rows: &[Plain<'a>]) -> Self {
        let mut columns = Self::default();
        let mut tenants: BTreeMap<&str, i64> = BTreeMap::new();
        let mut people: HashMap<(&str, Uuid), (i64, i64)> = HashMap::new();
        for plain in rows {
            *tenants.entry(plain.row.tenant.as_str()).or_default() += 1;
            let added = people.entry(plain.person()).or_default();
            added.0 += 1;
            added.1 += bigint(plain.row.turn.bytes());
        }
        (columns.streams, columns.stream_turns) = tenants.iter().map(|(&t, &n)| (t, n)).unzip();
        for plain in rows {
            let behind = tenants.entry(plain.row.tenant.as_str()).or_default();
            *behind -= 1;
            columns.behind.push(*behind);
            let (turns, bytes) = people.get(&plain.person()).copied().unwrap_or_default();
            columns.user_turns.push(turns);
            columns.user_bytes.push(bytes);
            let user = plain.row.turn.user();
            columns
                .turns
                .push(plain.row, plain.id, user, plain.created_at);
        }
        columns
    }

    async fn store(
        &self,
        session: &crate::session::Session<'_>,
        now: Timestamp,
    ) -> Result<HashMap<Uuid, u64>, StoreError> {
        // Rules written before there were caps have none: their defaults are the rules' own.
        let rules = TenantConfig::default();
        let (turn_cap, byte_cap) = (bigint(rules.turn_cap), bigint(rules.byte_cap));
        let more: &[Param<'_>] = &[
            &self.behind,
            &self.user_turns,
            &self.user_bytes,
            &turn_cap,
            &byte_cap,
        ];
        let now = now.to_system_time();
        let rows = self.turns.send(session, &AT_ONCE, &now, more).await?;
        rows.iter()
            .map(|row| {
                let row = Reader::of(row, "cross_channel_messages");
                Ok((row.get("id")?, row.number("seq")?))
            })
            .collect()
    }
}
