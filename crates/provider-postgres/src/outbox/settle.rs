//! What became of leased entries, written down in one statement.

use std::time::SystemTime;

use throughline_conversation_memory::{Next, OutboxError, OutboxSettlement, OutboxState, Settled};
use throughline_domain::{TenantId, Timestamp, WorkerId};
use tokio_postgres::types::Type;
use uuid::Uuid;

use super::{TABLE, refused};
use crate::error::StoreError;
use crate::row::{Reader, uuid};
use crate::statement::{ForTenant, Statement};
use crate::store::PostgresStore;

pub(super) static SETTLE: ForTenant = ForTenant(Statement {
    name: "outbox_settle",
    sql: include_str!("outbox_settle.sql"),
    params: &[
        Type::TEXT,
        Type::UUID,
        Type::UUID_ARRAY,
        Type::INT4_ARRAY,
        Type::TEXT_ARRAY,
        Type::TIMESTAMPTZ_ARRAY,
        Type::TEXT_ARRAY,
        Type::TIMESTAMPTZ,
    ],
});

/// One array a column; an entry without a state is deleted.
#[derive(Default)]
struct Columns {
    ids: Vec<Uuid>,
    attempts: Vec<i32>,
    states: Vec<Option<&'static str>>,
    due: Vec<SystemTime>,
    errors: Vec<Option<String>>,
}

impl Columns {
    fn push(&mut self, settlement: &OutboxSettlement, now: Timestamp) {
        let (attempts, state, due, error) = match settlement.next(now) {
            Next::Delete => (settlement.attempts, None, now, None),
            Next::Wait {
                attempts,
                at,
                error,
            } => (attempts, Some(OutboxState::Pending), at, error),
            Next::Die { attempts, error } => {
                (attempts, Some(OutboxState::DeadLetter), now, Some(error))
            }
        };
        self.ids.push(uuid(settlement.id.as_u128()));
        self.attempts.push(attempts.cast_signed());
        self.states.push(state.map(OutboxState::as_str));
        self.due.push(due.to_system_time());
        self.errors.push(error);
    }
}

pub(super) async fn settle(
    store: &PostgresStore,
    tenant: &TenantId,
    worker: WorkerId,
    settlements: &[OutboxSettlement],
) -> Result<Settled, OutboxError> {
    let now = store.clock.now();
    let mut columns = Columns::default();
    for settlement in settlements {
        columns.push(settlement, now);
    }
    let rows = store
        .sessions
        .query(
            tenant,
            &SETTLE,
            &[
                &uuid(worker.as_u128()),
                &columns.ids,
                &columns.attempts,
                &columns.states,
                &columns.due,
                &columns.errors,
                &now.to_system_time(),
            ],
        )
        .await
        .map_err(|error| refused(error, tenant))?;
    let mut settled = Settled::default();
    for row in &rows {
        let row = Reader::of(row, TABLE);
        let read = || {
            Ok(Settled {
                done: row.number("done")?,
                waiting: row.number("waiting")?,
                died: row.number("died")?,
            })
        };
        settled = read().map_err(|error: StoreError| refused(error, tenant))?;
    }
    Ok(settled)
}
