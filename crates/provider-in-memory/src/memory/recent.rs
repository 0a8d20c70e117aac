//! A page of one user's turns.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use throughline_conversation_memory::{Position, RecentPage, RecentQuery, RedactionState};
use throughline_domain::{Timestamp, UserId};

use super::window::{end, first_at, newest_first, oldest_kept};
use crate::state::{Row, TenantState, UserLog};

/// What was found, still shared with the store: the texts are copied when the lock is free again.
#[derive(Default)]
pub(crate) struct Found {
    rows: Vec<Arc<Row>>,
    more: bool,
    pending: u32,
}

/// What becomes of turns that nobody has scanned.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pending {
    LeftOut,
    Shown,
}

pub(crate) fn find(
    state: &TenantState,
    user: UserId,
    query: &RecentQuery,
    pending: Pending,
    now: Timestamp,
) -> Found {
    let groups = groups(state, user);
    let Some(user) = state.log_of(user) else {
        return Found::default();
    };
    let ttl = state.tenant.config.ttl();
    let range = range(query, now, ttl);
    let wanted = |row: &Row| {
        let recalled = pending == Pending::Shown || !groups.contains(&row.origin);
        recalled && row.is_readable(now, ttl) && matches(row, query)
    };
    let limit = query.limit.get();
    let shown = |row: &Row| {
        pending == Pending::Shown || row.said.redaction().state() != RedactionState::Pending
    };
    let left_out = match pending {
        Pending::LeftOut => count_pending(user, range.clone(), limit, &wanted),
        Pending::Shown => 0,
    };
    let mut rows: Vec<_> = newest_first(&user.turns, range)
        .filter(|row| shown(row) && wanted(row))
        .take(limit as usize + 1)
        .cloned()
        .collect();
    let more = rows.len() > limit as usize;
    rows.truncate(limit as usize);
    Found {
        rows,
        more,
        pending: left_out,
    }
}

/// Which of the person's accounts are groups: what came through them is read in its scope alone (T-05).
fn groups(state: &TenantState, user: UserId) -> Vec<UserId> {
    let people = &state.people;
    let members = people.root(user).map(|root| people.members(root));
    let members = members.unwrap_or_default();
    let known = people.identities_of(&members);
    known
        .filter(|known| known.identity.shared)
        .map(|known| known.account)
        .collect()
}

/// Turns that the query asks for and nobody has scanned, at most `limit` (T-07).
fn count_pending(
    user: &UserLog,
    range: Range<Position>,
    limit: u32,
    wanted: &impl Fn(&Row) -> bool,
) -> u32 {
    if user.pending.is_empty() || range.start >= range.end {
        return 0;
    }
    let rows = user
        .pending
        .range(range)
        .filter_map(|position| user.turns.get(position));
    let counted = rows.filter(|row| wanted(row)).take(limit as usize).count();
    u32::try_from(counted).unwrap_or(limit)
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
    pub(crate) fn into_page(self) -> RecentPage {
        let last = self.rows.last().filter(|_| self.more);
        RecentPage {
            next: last.map(|row| row.position()),
            turns: self.rows.iter().map(|row| row.to_turn()).collect(),
            pending_excluded: self.pending,
            // Reading the maps again costs no more than asking whether they have changed.
            fresh: None,
        }
    }
}
