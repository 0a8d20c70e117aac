//! `GET /v1/tenants/{tenant}/users/{user_id}/turns` (R-081 … R-084)

use axum::extract::State;
use throughline_conversation_memory::{RecentQuery, Turn};
use throughline_domain::{TenantId, UserId};
use throughline_wire::{Code, Cursor, Filters, Place, Problem, RecentAnswer, TurnBody};

use crate::caller::Tenant;
use crate::counters::Read;
use crate::failure::Failure;
use crate::path::PathUser;
use crate::query::Query;
use crate::shared::Shared;

/// A user's turns across all channels, newest first. An unknown user has none.
pub(crate) async fn recent(
    tenant: Tenant,
    PathUser(user): PathUser,
    State(shared): State<Shared>,
    query: Query,
) -> Result<axum::Json<RecentAnswer>, Failure> {
    refuse_raw(&query)?;
    let (query, filters) = parse(&query, tenant.id(), user)?;
    let page = tenant.recent(user, &query).await?;
    shared
        .counters
        .read(Read::RecentByUser, page.pending_excluded);
    Ok(axum::Json(RecentAnswer {
        turns: bodies(page.turns)?,
        next_cursor: page.next.map(|position| Cursor::encode(position, filters)),
        pending_excluded: page.pending_excluded,
    }))
}

fn parse(
    query: &Query,
    tenant: &TenantId,
    user: UserId,
) -> Result<(RecentQuery, Filters), Problem> {
    let mut recent = RecentQuery {
        limit: query.limit()?,
        since: query.moment("since_ms")?,
        until: query.moment("until_ms")?,
        exclude_canvas: query.canvas("exclude_canvas_session_id")?,
        channel_kinds: query.channel_kinds()?,
        before: None,
    };
    let filters = Filters::of(tenant, user, &recent);
    if let Some(cursor) = query.text("cursor")? {
        recent.before = Some(Cursor::decode(&cursor, filters)?);
    }
    Ok((recent, filters))
}

/// Masked text in place of the raw text that was asked for would look like the raw text.
fn refuse_raw(query: &Query) -> Result<(), Problem> {
    let place = Place::Parameter("include_raw");
    match query.text("include_raw")?.as_deref() {
        None | Some("false") => Ok(()),
        Some("true") => {
            let detail = "raw text cannot be read here; leave include_raw out";
            Err(place.problem(Code::Unsupported, detail))
        }
        Some(_) => Err(place.invalid("include_raw must be true or false")),
    }
}

/// The turns as they go over the wire.
pub(crate) fn bodies(turns: Vec<Turn>) -> Result<Vec<TurnBody>, Failure> {
    let bodies: Result<Vec<TurnBody>, _> = turns.into_iter().map(TurnBody::try_from).collect();
    bodies.map_err(Failure::internal)
}
