//! A user's turns across all channels.

use std::cmp::Reverse;
use std::time::Duration;

use throughline_conversation_memory::{
    CanvasSessionId, ChannelKind, MemoryError, Position, RecentPage, RecentQuery, Turn,
};
use throughline_domain::{TenantId, Timestamp, UserId};
use tokio_postgres::types::Type;

use super::turn::turns;
use crate::error::StoreError;
use crate::row::{Reader, bigint, uuid};
use crate::statement::{ForTenant, Statement};
use crate::store::PostgresStore;

pub(super) static RECENT: ForTenant = ForTenant(Statement {
    name: "recent",
    sql: include_str!("recent.sql"),
    params: &[
        Type::TEXT,
        Type::UUID,
        Type::TIMESTAMPTZ,
        Type::TIMESTAMPTZ,
        Type::TIMESTAMPTZ,
        Type::INT8,
        Type::TEXT,
        Type::TEXT_ARRAY,
        Type::INT8,
    ],
});

const MICROSECOND: Duration = Duration::from_micros(1);

pub(super) async fn recent(
    store: &PostgresStore,
    tenant: &TenantId,
    user: UserId,
    query: &RecentQuery,
) -> Result<RecentPage, MemoryError> {
    let limit = query.limit.get();
    // An absent bound is the farthest moment there is: a null would hide the bound from the index.
    let first = Timestamp::from_micros(i64::MIN);
    let last = Timestamp::from_micros(i64::MAX);
    // The store keeps microseconds, so "from then on" is "after the microsecond before".
    let after = query.since.map_or(first, |since| since.minus(MICROSECOND));
    let before = query.before.unwrap_or(Position {
        created_at: last,
        seq: u64::MAX,
    });
    let (end, end_seq) = match query.until {
        // No place has a number below zero: at this moment none is left.
        Some(until) if until <= before.created_at => (until, -1),
        _ => (before.created_at, bigint(before.seq)),
    };
    let canvas = query.exclude_canvas.as_ref().map(CanvasSessionId::as_str);
    let kinds: Option<Vec<&str>> = (!query.channel_kinds.is_empty()).then(|| {
        query
            .channel_kinds
            .iter()
            .map(ChannelKind::as_str)
            .collect()
    });
    let rows = store
        .sessions
        .query(
            tenant,
            &RECENT,
            &[
                &uuid(user.as_u128()),
                &store.clock.now().to_system_time(),
                &after.to_system_time(),
                &end.to_system_time(),
                &end_seq,
                &canvas,
                &kinds,
                &i64::from(limit),
            ],
        )
        .await
        .map_err(StoreError::memory)?;
    let first = rows
        .first()
        .ok_or_else(|| MemoryError::UnknownTenant(tenant.clone()))?;
    let row = Reader {
        row: first,
        table: "cross_channel_messages",
        key: user.to_string(),
    };
    let pending = row.number("pending").map_err(StoreError::memory)?;
    let mut turns = turns(&rows).map_err(StoreError::memory)?;
    turns.sort_by_key(|turn| Reverse(turn.position()));
    // One more than asked for was read, to know whether there is more.
    let more = turns.len() > limit as usize;
    turns.truncate(limit as usize);
    let next = turns.last().filter(|_| more).map(Turn::position);
    let pending_excluded = u32::try_from(pending).unwrap_or(limit);
    Ok(RecentPage {
        turns,
        next,
        pending_excluded,
    })
}
