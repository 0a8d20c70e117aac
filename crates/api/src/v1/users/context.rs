//! `GET /v1/tenants/{tenant}/users/{user_id}/context` (R-121, R-122, T-46)

use std::time::Duration;

use axum::extract::State;
use throughline_conversation_memory::{CONTEXT_BLOCK_BYTES, RecentQuery, context_block};
use throughline_wire::{ContextAnswer, Place, Problem};

use crate::caller::Tenant;
use crate::counters::Read;
use crate::failure::Failure;
use crate::path::PathUser;
use crate::query::Query;
use crate::shared::Shared;

/// How far back the block looks; the number of turns is [`RecentQuery`]'s own default.
const LOOK_BACK: Duration = Duration::from_hours(3 * 24);
const MAX_BYTES: usize = 65_536;

/// The block for the prompt of a user's next turn; empty when nothing was said elsewhere.
pub(crate) async fn context(
    tenant: Tenant,
    PathUser(user): PathUser,
    State(shared): State<Shared>,
    query: Query,
) -> Result<axum::Json<ContextAnswer>, Failure> {
    let max_bytes = max_bytes(&query)?;
    let now = tenant.clock().now();
    let recent = RecentQuery {
        since: Some(now.minus(LOOK_BACK)),
        exclude_canvas: query.canvas("exclude_canvas_session_id")?,
        ..RecentQuery::default()
    };
    let page = tenant.recent(user, &recent).await?;
    shared
        .counters
        .read(Read::RecentByUser, page.pending_excluded);
    let block = context_block(&page.turns, now, max_bytes);
    Ok(axum::Json(ContextAnswer::new(block, tenant.epoch())))
}

fn max_bytes(query: &Query) -> Result<usize, Problem> {
    let Some(text) = query.text("max_bytes")? else {
        return Ok(CONTEXT_BLOCK_BYTES);
    };
    let digits = text.bytes().all(|b| b.is_ascii_digit());
    let bytes = text
        .parse()
        .ok()
        .filter(|bytes| digits && *bytes <= MAX_BYTES);
    bytes.ok_or_else(|| {
        let detail = format!("max_bytes must be a whole number from 0 to {MAX_BYTES}");
        Place::Parameter("max_bytes").invalid(detail)
    })
}
