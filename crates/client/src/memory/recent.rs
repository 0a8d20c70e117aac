//! A user's recent turns, a page at a time.

use throughline_conversation_memory::{
    CanvasSessionId, ChannelKind, MemoryError, Position, RecentPage, RecentQuery, Turn,
};
use throughline_domain::{TenantId, Timestamp, UserId};
use throughline_wire::{Cursor, Filters, RecentAnswer, paths};

use super::turn::turn;
use crate::call::Call;
use crate::client::Client;
use crate::error::memory_error;
use crate::query::Query;
use crate::retry::Failed;

pub(super) async fn recent(
    client: &Client,
    tenant: &TenantId,
    user: UserId,
    query: &RecentQuery,
) -> Result<RecentPage, MemoryError> {
    let page = page(client, tenant, user, query).await;
    page.map_err(|failed| memory_error(failed.error, tenant))
}

async fn page(
    client: &Client,
    tenant: &TenantId,
    user: UserId,
    query: &RecentQuery,
) -> Result<RecentPage, Failed> {
    let asked = in_milliseconds(query);
    let filters = Filters::of(tenant, user, &asked);
    let path = path(tenant, user, &asked, filters);
    let answer = client
        .send(&Call::get(tenant, path), client.deadline())
        .await?;
    let read: RecentAnswer = answer.read()?;
    let next = read
        .next_cursor
        .map(|cursor| Cursor::decode(&cursor, filters));
    let next = next
        .transpose()
        .map_err(|_| answer.unreadable("next_cursor is none of this request"))?;
    let turns: Result<Vec<Turn>, _> = read.turns.into_iter().map(turn).collect();
    let mut page = RecentPage {
        turns: turns.map_err(|fault| answer.unreadable(fault))?,
        next,
        pending_excluded: read.pending_excluded,
        fresh: None,
    };
    leave_out_before(query.since, &mut page);
    Ok(page)
}

/// The wire speaks milliseconds, the trait microseconds: what is asked for is the smallest range of whole
/// milliseconds around the one that is meant. The upper bound is then exact by a cursor, the lower one
/// by [`leave_out_before`].
fn in_milliseconds(query: &RecentQuery) -> RecentQuery {
    let floor = |at: Timestamp| Timestamp::from_millis(at.as_millis());
    let ceiling = |at: Timestamp| match floor(at) {
        whole if whole < at => Timestamp::from_millis(at.as_millis() + 1),
        whole => whole,
    };
    let bound = query.until.filter(|until| floor(*until) < *until);
    let bound = bound.map(|created_at| Position { created_at, seq: 0 });
    RecentQuery {
        since: query.since.map(floor),
        until: query.until.map(ceiling),
        before: match (query.before, bound) {
            (Some(before), Some(bound)) => Some(before.min(bound)),
            (before, bound) => before.or(bound),
        },
        ..query.clone()
    }
}

/// Turns come newest first, so what is too old stands at the end and nothing follows it.
fn leave_out_before(since: Option<Timestamp>, page: &mut RecentPage) {
    let Some(since) = since else { return };
    if let Some(end) = page.turns.iter().position(|turn| turn.created_at < since) {
        page.turns.truncate(end);
        page.next = None;
    }
}

fn path(tenant: &TenantId, user: UserId, query: &RecentQuery, filters: Filters) -> String {
    let millis = |at: Option<Timestamp>| at.map(|at| at.as_millis().to_string());
    let kinds: Vec<&str> = query
        .channel_kinds
        .iter()
        .map(ChannelKind::as_str)
        .collect();
    let kinds = (!kinds.is_empty()).then(|| kinds.join(","));
    let canvas = query.exclude_canvas.as_ref().map(CanvasSessionId::as_str);
    let cursor = query.before.map(|before| Cursor::encode(before, filters));
    let path = paths::fill(paths::RECENT, tenant, &[("user_id", &user.to_string())]);
    Query::of(path)
        .with("limit", &query.limit.get().to_string())
        .with_some("since_ms", millis(query.since).as_deref())
        .with_some("until_ms", millis(query.until).as_deref())
        .with_some("exclude_canvas_session_id", canvas)
        .with_some("channel_kinds", kinds.as_deref())
        .with_some("cursor", cursor.as_deref())
        .path()
}
