//! `GET /v1/tenants/{tenant}/users/{user_id}/turns` (R-081 … R-084)

use axum::extract::State;
use throughline_conversation_memory::{RecentQuery, Turn};
use throughline_domain::{TenantId, UserId};
use throughline_wire::{Code, Cursor, Filters, Place, Problem, RecentAnswer, TurnBody};

use crate::caller::{Operator, Tenant};
use crate::counters::Read;
use crate::failure::Failure;
use crate::path::PathUser;
use crate::query::Query;
use crate::shared::Shared;

/// A user's turns across all channels, newest first. An unknown user has none.
pub(crate) async fn recent(
    tenant: Tenant,
    operator: Option<Operator>,
    PathUser(user): PathUser,
    State(shared): State<Shared>,
    query: Query,
) -> Result<axum::Json<RecentAnswer>, Failure> {
    let raw = includes_raw(&query)?;
    let (query, filters) = parse(&query, tenant.id(), user, raw)?;
    let (page, kind, bodies) = if raw {
        let detail = "only an operator may read raw text; leave include_raw out";
        let operator = operator.ok_or_else(|| Failure::new(Code::Forbidden, detail))?;
        let page = operator.recent_raw(tenant.id(), user, &query).await?;
        let bodies: Result<Vec<TurnBody>, _> = page.turns.into_iter().map(TurnBody::raw).collect();
        let bodies = bodies.map_err(Failure::internal)?;
        ((page.next, page.pending_excluded), Read::Raw, bodies)
    } else {
        let page = tenant.recent(user, &query).await?;
        let seen = (page.next, page.pending_excluded);
        (seen, Read::RecentByUser, bodies(page.turns)?)
    };
    let (next, pending_excluded) = page;
    shared.counters.read(kind, pending_excluded);
    Ok(axum::Json(RecentAnswer {
        turns: bodies,
        next_cursor: next.map(|position| Cursor::encode(position, filters)),
        pending_excluded,
        erasure_epoch: tenant.epoch(),
    }))
}

fn parse(
    query: &Query,
    tenant: &TenantId,
    user: UserId,
    raw: bool,
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
    let filters = if raw { filters.raw() } else { filters };
    if let Some(cursor) = query.text("cursor")? {
        recent.before = Some(Cursor::decode(&cursor, filters)?);
    }
    Ok((recent, filters))
}

/// absent is no.
fn includes_raw(query: &Query) -> Result<bool, Problem> {
    let name = "include_raw";
    match query.text(name)?.as_deref() {
        None | Some("false") => Ok(false),
        Some("true") => Ok(true),
        Some(_) => Err(Place::Parameter(name).invalid("include_raw must be true or false")),
    }
}

/// The turns as they go over the wire.
pub(crate) fn bodies(turns: Vec<Turn>) -> Result<Vec<TurnBody>, Failure> {
    let bodies: Result<Vec<TurnBody>, _> = turns.into_iter().map(TurnBody::try_from).collect();
    bodies.map_err(Failure::internal)
}
