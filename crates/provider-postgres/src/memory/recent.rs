//! A user's turns across all channels.

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
        Type::TIMESTAMPTZ,
        Type::INT8,
        Type::TEXT,
        Type::TEXT_ARRAY,
        Type::INT8,
    ],
});

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
    let since = query.since.unwrap_or(first);
    let until = query.until.unwrap_or(last);
    let before = query.before.unwrap_or(Position {
        created_at: last,
        seq: u64::MAX,
    });
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
                &since.to_system_time(),
                &until.to_system_time(),
                &before.created_at.to_system_time(),
                &bigint(before.seq),
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
