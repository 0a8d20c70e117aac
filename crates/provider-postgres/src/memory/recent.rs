//! A user's turns across all channels.

use std::time::SystemTime;

use throughline_conversation_memory::{
    CanvasSessionId, ChannelKind, MemoryError, Position, RecentPage, RecentQuery, Turn,
};
use throughline_domain::{TenantId, Timestamp, UserId};
use tokio_postgres::Row;
use tokio_postgres::types::Type;
use uuid::Uuid;

use super::read_version::fresh;
use super::turn::turns;
use crate::error::StoreError;
use crate::row::{Reader, bigint, uuid};
use crate::session::Param;
use crate::statement::{ForTenant, Statement};
use crate::store::PostgresStore;

const PARAMS: &[Type] = &[
    Type::TEXT,
    Type::UUID,
    Type::TIMESTAMPTZ,
    Type::TIMESTAMPTZ,
    Type::TIMESTAMPTZ,
    Type::TIMESTAMPTZ,
    Type::INT8,
    Type::TEXT,
    Type::TEXT_ARRAY,
    Type::INT8,
];

pub(super) static RECENT: ForTenant = ForTenant(Statement {
    name: "recent",
    sql: include_str!("recent.sql"),
    params: PARAMS,
});

pub(super) static RECENT_RAW: ForTenant = ForTenant(Statement {
    name: "recent_raw",
    sql: include_str!("recent_raw.sql"),
    params: PARAMS,
});

pub(super) async fn recent(
    store: &PostgresStore,
    tenant: &TenantId,
    user: UserId,
    query: &RecentQuery,
) -> Result<RecentPage, MemoryError> {
    let asked = Asked::new(user, query, store.clock.now());
    let rows = store.sessions.query(tenant, &RECENT, &asked.params()).await;
    let rows = rows.map_err(StoreError::memory)?;
    let page = page(&rows, tenant, user, query)?;
    // Turns that wait for a scan end by the clock too, and no turn of the page tells when.
    let waits = page.pending_excluded > 0;
    let fresh = fresh(&rows).map_err(StoreError::memory)?;
    Ok(RecentPage {
        fresh: fresh.filter(|_| !waits),
        ..page
    })
}

/// The parameters of a page.
pub(super) struct Asked<'a> {
    user: Uuid,
    now: SystemTime,
    since: SystemTime,
    until: SystemTime,
    before: SystemTime,
    before_seq: i64,
    canvas: Option<&'a str>,
    kinds: Option<Vec<&'a str>>,
    limit: i64,
}

impl<'a> Asked<'a> {
    pub(super) fn new(user: UserId, query: &'a RecentQuery, now: Timestamp) -> Self {
        // An absent bound is the farthest moment there is: a null would hide the bound from the index.
        let first = Timestamp::from_micros(i64::MIN);
        let last = Timestamp::from_micros(i64::MAX);
        let before = query.before.unwrap_or(Position {
            created_at: last,
            seq: u64::MAX,
        });
        let kinds = query.channel_kinds.iter().map(ChannelKind::as_str);
        Self {
            user: uuid(user.as_u128()),
            now: now.to_system_time(),
            since: query.since.unwrap_or(first).to_system_time(),
            until: query.until.unwrap_or(last).to_system_time(),
            before: before.created_at.to_system_time(),
            before_seq: bigint(before.seq),
            canvas: query.exclude_canvas.as_ref().map(CanvasSessionId::as_str),
            kinds: (!query.channel_kinds.is_empty()).then(|| kinds.collect()),
            limit: i64::from(query.limit.get()),
        }
    }

    pub(super) fn params(&self) -> [Param<'_>; 9] {
        [
            &self.user,
            &self.now,
            &self.since,
            &self.until,
            &self.before,
            &self.before_seq,
            &self.canvas,
            &self.kinds,
            &self.limit,
        ]
    }
}

/// The page out of its rows; none at all means that there is no such tenant.
pub(super) fn page(
    rows: &[Row],
    tenant: &TenantId,
    user: UserId,
    query: &RecentQuery,
) -> Result<RecentPage, MemoryError> {
    let limit = query.limit.get();
    let first = rows
        .first()
        .ok_or_else(|| MemoryError::UnknownTenant(tenant.clone()))?;
    let row = Reader::of(first, "cross_channel_messages").keyed(&user);
    let pending = row.number("pending").map_err(StoreError::memory)?;
    let mut turns = turns(rows).map_err(StoreError::memory)?;
    // One more than asked for was read, to know whether there is more.
    let more = turns.len() > limit as usize;
    turns.truncate(limit as usize);
    let next = turns.last().filter(|_| more).map(Turn::position);
    let pending_excluded = u32::try_from(pending).unwrap_or(limit);
    Ok(RecentPage {
        turns,
        next,
        pending_excluded,
        fresh: None,
    })
}
