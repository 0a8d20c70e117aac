//! How much waits, over all tenants.

use std::time::SystemTime;

use throughline_conversation_memory::{Cause, OutboxError, OutboxStats};
use throughline_domain::Timestamp;

use super::TABLE;
use crate::error::StoreError;
use crate::row::Reader;
use crate::statement::{ForOperator, Statement};
use crate::store::PostgresStore;

pub(super) static STATS: ForOperator = ForOperator(Statement {
    name: "outbox_stats",
    sql: "-- outbox_stats\n\
          select\n\
          count(*) filter (where state = 'pending') as pending,\n\
          count(*) filter (where state = 'dlq') as dead,\n\
          min(created_at) filter (where state = 'pending') as oldest_pending,\n\
          min(died_at) as oldest_dead\n\
          from ccm_outbox",
    params: &[],
});

pub(super) async fn stats(store: &PostgresStore) -> Result<OutboxStats, OutboxError> {
    let unavailable = |error| OutboxError::Unavailable(Cause::new(error));
    let rows = store.sessions.query_as_operator(&STATS, &[]).await;
    let rows = rows.map_err(unavailable)?;
    let Some(row) = rows.first() else {
        return Ok(OutboxStats::default());
    };
    let row = Reader::of(row, TABLE);
    let moment = |column| {
        let moment: Option<SystemTime> = row.get(column)?;
        Ok(moment.map(Timestamp::from_system_time))
    };
    let read = || {
        Ok(OutboxStats {
            pending: row.number("pending")?,
            dead: row.number("dead")?,
            oldest_pending: moment("oldest_pending")?,
            oldest_dead: moment("oldest_dead")?,
        })
    };
    read().map_err(|error: StoreError| unavailable(error))
}
