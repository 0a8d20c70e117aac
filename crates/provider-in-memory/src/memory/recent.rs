//! A page of one user's turns.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use throughline_conversation_memory::{Position, RecentPage, RecentQuery, RedactionState};
use throughline_domain::{Timestamp, UserId};

use super::window::{end, first_at, newest_first, oldest_kept};
use crate::state::{Row, TenantState};

/// What was found, still shared with the store: the texts are copied when the lock is free again.
#[derive(Default)]
pub(super) struct Found {
    rows: Vec<Arc<Row>>,
    more: bool,
    pending: u32,
}

pub(super) fn find(
    state: &TenantState,
    user: UserId,
    query: &RecentQuery,
    now: Timestamp,
) -> Found {
    let mut found = Found::default();
    let Some(user) = state.log_of(user) else {
        return found;
    };
    let ttl = state.tenant.config.ttl();
    let limit = query.limit.get();
    for row in newest_first(&user.turns, range(query, now, ttl)) {
        if !row.is_readable(now, ttl) || !matches(row, query) {
            continue;
        }
        if row.said.redaction_state() == RedactionState::Pending {
            found.pending = limit.min(found.pending + 1);
        } else if found.rows.len() as u64 == u64::from(limit) {
            found.more = true;
            break;
        } else {
            found.rows.push(row.clone());
        }
    }
    found
}

/// From `since` (inclusive) up to `until` (exclusive) and up to the place where the last page ended.
fn range(query: &RecentQuery, now: Timestamp, ttl: Duration) -> Range<Position> {
    let oldest = oldest_kept(now, ttl);
    let start = query
        .since
        .map_or(oldest, |since| first_at(since).max(oldest));
    let until = query.until.map_or_else(end, first_at);
    start..query.before.map_or(until, |before| before.min(until))
}

/// A turn without a canvas is of no canvas, so it is never left out for one (T-20).
fn matches(row: &Row, query: &RecentQuery) -> bool {
    let excluded =
        query.exclude_canvas.is_some() && row.said.canvas() == query.exclude_canvas.as_ref();
    let kinds = &query.channel_kinds;
    !excluded && (kinds.is_empty() || kinds.contains(row.said.scope().kind()))
}

impl Found {
    pub(super) fn into_page(self) -> RecentPage {
        let last = self.rows.last().filter(|_| self.more);
        RecentPage {
            next: last.map(|row| row.position()),
            turns: self.rows.iter().map(|row| row.to_turn()).collect(),
            pending_excluded: self.pending,
        }
    }
}
