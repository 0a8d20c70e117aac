//! `GET /admin/tenants/{tenant}/outbox?state=&limit=&cursor=`

use throughline_conversation_memory::{OutboxQuery, OutboxState};
use throughline_wire::{EntryCursor, OutboxAnswer, Place, Problem};

use crate::caller::Operator;
use crate::failure::Failure;
use crate::path::PathTenant;
use crate::query::Query;

/// What waits, or the dead letters with their reasons, a page at a time; never what was said.
pub(crate) async fn list(
    operator: Operator,
    PathTenant(name): PathTenant,
    query: Query,
) -> Result<axum::Json<OutboxAnswer>, Failure> {
    let word = query.text("state")?;
    let state = OutboxState::parse(word.as_deref().unwrap_or("dlq"));
    let state =
        state.ok_or_else(|| Place::Parameter("state").invalid("state is dlq or pending"))?;
    let limit = query.limit()?.get();
    let after = query.text("cursor")?;
    let after = after.map(|cursor| EntryCursor::decode(&cursor));
    let after = after.transpose().map_err(Problem::from)?;
    // One more than asked for says whether there is a next page.
    let wanted = OutboxQuery {
        state,
        after,
        limit: limit + 1,
    };
    let mut entries = operator.outbox().list(&name, wanted).await?;
    let more = entries.len() > limit as usize;
    entries.truncate(limit as usize);
    let last = entries.last().filter(|_| more);
    Ok(axum::Json(OutboxAnswer {
        next_cursor: last.map(|entry| EntryCursor::encode(entry.id)),
        entries: entries.into_iter().map(Into::into).collect(),
    }))
}
