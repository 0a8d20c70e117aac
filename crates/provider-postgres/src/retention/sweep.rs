//! Deleting turns, audit entries and tombstones, and saying what there is to delete.

use std::time::Duration;

use throughline_conversation_memory::{Caps, Chunk, OverCap, Pass, RetentionError, Swept, Usage};
use throughline_domain::{TenantId, Timestamp, UserId};
use tokio_postgres::Row;
use tokio_postgres::types::Type;
use uuid::Uuid;

use super::{failed, known};
use crate::row::{Reader, bigint, uuid};
use crate::statement::{ForOperator, ForTenant, Statement};
use crate::store::PostgresStore;

pub(super) static ENDED: ForTenant = ForTenant(Statement {
    name: "gc_ended",
    sql: include_str!("gc_ended.sql"),
    params: &[Type::TEXT, Type::TIMESTAMPTZ, Type::INT8, Type::TIMESTAMPTZ],
});

/// Also sent by an append that makes room.
pub(crate) static BEYOND: ForTenant = ForTenant(Statement {
    name: "gc_beyond",
    sql: include_str!("gc_beyond.sql"),
    params: &[
        Type::TEXT,
        Type::UUID,
        Type::INT8,
        Type::INT8,
        Type::INT8,
        Type::TIMESTAMPTZ,
        Type::TIMESTAMPTZ,
    ],
});

pub(super) static AUDIT: ForTenant = ForTenant(Statement {
    name: "gc_audit",
    sql: include_str!("gc_audit.sql"),
    params: &[Type::TEXT, Type::TIMESTAMPTZ, Type::INT8],
});

pub(super) static TOMBSTONES: ForTenant = ForTenant(Statement {
    name: "gc_tombstones",
    sql: include_str!("gc_tombstones.sql"),
    params: &[Type::TEXT, Type::TIMESTAMPTZ, Type::INT8],
});

pub(super) static PREVIEW: ForTenant = ForTenant(Statement {
    name: "gc_preview",
    sql: include_str!("gc_preview.sql"),
    params: &[
        Type::TEXT,
        Type::TEXT,
        Type::TIMESTAMPTZ,
        Type::UUID,
        Type::INT8,
        Type::INT8,
        Type::INT8,
    ],
});

pub(super) static OVER_CAP: ForTenant = ForTenant(Statement {
    name: "gc_over_cap",
    sql: include_str!("gc_over_cap.sql"),
    params: &[Type::TEXT, Type::UUID, Type::INT8, Type::INT8, Type::INT8],
});

/// One look a tenant into the index of ends.
pub(super) static OLDEST_ENDED: ForOperator = ForOperator(Statement {
    name: "gc_oldest_ended",
    sql: "-- gc_oldest_ended\n\
          select min(m.expires_at) as ended\n\
          from tenants t\n\
          cross join lateral (\n\
          select x.expires_at\n\
          from cross_channel_messages x\n\
          where x.tenant_id = t.tenant_id\n\
          order by x.expires_at\n\
          limit 1\n\
          ) m\n\
          where m.expires_at <= $1",
    params: &[Type::TIMESTAMPTZ],
});

/// People one look for caps goes over.
const LOOKED_AT: i64 = 5_000;
/// What a preview counts at most.
const COUNTED: i64 = 1_000_000;

pub(super) async fn sweep(
    store: &PostgresStore,
    tenant: &TenantId,
    pass: Pass,
    chunk: Chunk,
    tombstone_life: Duration,
) -> Result<Swept, RetentionError> {
    let now = store.clock.now();
    let until = now.plus(tombstone_life).to_system_time();
    let (at, rows) = (now.to_system_time(), i64::from(chunk.get()));
    let sessions = &store.sessions;
    let answer = match pass {
        Pass::Ended => sessions.query(tenant, &ENDED, &[&at, &rows, &until]).await,
        Pass::Count { user, .. } | Pass::Bytes { user, .. } => {
            let (turns, bytes) = caps(pass);
            let user = uuid(user.as_u128());
            let params: &[crate::session::Param<'_>] = &[&user, &turns, &bytes, &rows, &at, &until];
            sessions.query(tenant, &BEYOND, params).await
        }
        Pass::Audit { kept } => {
            let before = now.minus(kept).to_system_time();
            sessions.query(tenant, &AUDIT, &[&before, &rows]).await
        }
        Pass::Tombstones => sessions.query(tenant, &TOMBSTONES, &[&at, &rows]).await,
    };
    swept(&answer.map_err(failed)?, tenant, Some(chunk))
}

pub(super) async fn preview(
    store: &PostgresStore,
    tenant: &TenantId,
    pass: Pass,
) -> Result<Swept, RetentionError> {
    let now = store.clock.now();
    let (word, before, user) = match pass {
        Pass::Ended => ("ended", now, None),
        Pass::Count { user, .. } | Pass::Bytes { user, .. } => ("beyond", now, Some(user)),
        Pass::Audit { kept } => ("audit", now.minus(kept), None),
        Pass::Tombstones => ("tombstones", now, None),
    };
    let user = user.map(|user| uuid(user.as_u128()));
    let (turns, bytes) = caps(pass);
    let before = before.to_system_time();
    let params: &[crate::session::Param<'_>] = &[&word, &before, &user, &turns, &bytes, &COUNTED];
    let answer = store.sessions.query(tenant, &PREVIEW, params).await;
    swept(&answer.map_err(failed)?, tenant, None)
}

/// The cap the pass is for; the other one is out of reach.
fn caps(pass: Pass) -> (i64, i64) {
    match pass {
        Pass::Count { cap, .. } => (bigint(cap), i64::MAX),
        Pass::Bytes { cap, .. } => (i64::MAX, bigint(cap)),
        _ => (i64::MAX, i64::MAX),
    }
}

fn swept(rows: &[Row], tenant: &TenantId, chunk: Option<Chunk>) -> Result<Swept, RetentionError> {
    known(rows.first(), tenant)?;
    let mut answer = Swept::default();
    for row in rows {
        let row = reader(row, tenant);
        let read = |column| row.number(column).map_err(failed);
        let seen = read("seen")?;
        answer.rows = read("swept")?;
        answer.bytes = read("bytes")?;
        // A full chunk of which nothing could be had is in others' hands: no more for now.
        let full = chunk.is_some_and(|chunk| seen >= u64::from(chunk.get()));
        answer.more = full && answer.rows > 0;
    }
    Ok(answer)
}

fn reader<'a>(row: &'a Row, tenant: &TenantId) -> Reader<'a> {
    Reader::of(row, "cross_channel_messages").keyed(&tenant)
}

pub(super) async fn over_cap(
    store: &PostgresStore,
    tenant: &TenantId,
    caps: Caps,
    after: Option<UserId>,
) -> Result<OverCap, RetentionError> {
    // No id of a user is nil.
    let after = uuid(after.map_or(0, UserId::as_u128));
    let (turns, bytes) = (bigint(caps.turns), bigint(caps.bytes));
    let params: &[crate::session::Param<'_>] = &[&after, &turns, &bytes, &LOOKED_AT];
    let rows = store.sessions.query(tenant, &OVER_CAP, params).await;
    let rows = rows.map_err(failed)?;
    known(rows.first(), tenant)?;
    let mut found = OverCap::default();
    for row in &rows {
        let row = Reader {
            table: "users",
            ..reader(row, tenant)
        };
        let id = |column| row.get::<Option<Uuid>>(column).map_err(failed);
        let all = row.get::<i64>("people").map_err(failed)? < LOOKED_AT;
        found.next = id("last")?
            .filter(|_| !all)
            .map(|last| UserId::from_u128(last.as_u128()));
        if let Some(user) = id("user_id")? {
            let usage = Usage {
                turn_count: row.number("turn_count").map_err(failed)?,
                byte_count: row.number("byte_count").map_err(failed)?,
            };
            found.users.push((UserId::from_u128(user.as_u128()), usage));
        }
    }
    Ok(found)
}

pub(super) async fn oldest_ended(
    store: &PostgresStore,
) -> Result<Option<Timestamp>, RetentionError> {
    let now = store.clock.now().to_system_time();
    let rows = store
        .sessions
        .query_as_operator(&OLDEST_ENDED, &[&now])
        .await;
    let ended = rows
        .map_err(failed)?
        .first()
        .and_then(|row| row.try_get("ended").ok());
    Ok(ended.map(Timestamp::from_system_time))
}
