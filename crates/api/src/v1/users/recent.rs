//! `GET /v1/tenants/{tenant}/users/{user_id}/turns` (R-081 … R-084)

use axum::body::Bytes;
use axum::extract::{RawQuery, State};
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use throughline_conversation_memory::{Position, RecentQuery, Turn};
use throughline_domain::{TenantId, UserId};
use throughline_wire::{Code, Cursor, Filters, Place, Problem, RecentAnswer, TurnBody};

use crate::caller::{Operator, Tenant};
use crate::counters::Read;
use crate::failure::Failure;
use crate::pages::{Outcome, Page};
use crate::path::PathUser;
use crate::query::Query;
use crate::shared::Shared;

/// A user's turns across all channels, newest first. An unknown user has none.
pub(crate) async fn recent(
    tenant: Tenant,
    operator: Option<Operator>,
    PathUser(user): PathUser,
    State(shared): State<Shared>,
    RawQuery(question): RawQuery,
    query: Query,
) -> Result<Response, Failure> {
    let raw = includes_raw(&query)?;
    let (query, filters) = parse(&query, tenant.id(), user, raw)?;
    if raw {
        let detail = "only an operator may read raw text; leave include_raw out";
        let operator = operator.ok_or_else(|| Failure::new(Code::Forbidden, detail))?;
        let page = operator.recent_raw(tenant.id(), user, &query).await?;
        let bodies: Result<Vec<TurnBody>, _> = page.turns.into_iter().map(TurnBody::raw).collect();
        let bodies = bodies.map_err(Failure::internal)?;
        shared.counters.read(Read::Raw, page.pending_excluded);
        let next = (page.next, filters);
        return Ok(json(written(&tenant, bodies, next, page.pending_excluded)?));
    }
    let question = question.unwrap_or_default();
    if let Some(page) = remembered(&tenant, user, &shared, &question).await? {
        return Ok(json(page));
    }
    let page = tenant.recent(user, &query).await?;
    let left_out = page.pending_excluded;
    let body = written(&tenant, bodies(page.turns)?, (page.next, filters), left_out)?;
    shared.counters.read(Read::RecentByUser, left_out);
    if let Some(fresh) = page.fresh {
        let page = Page::new(fresh, tenant.epoch(), body.clone());
        shared.pages.put(tenant.id(), user, &question, page).await;
    }
    Ok(json(body))
}

/// The bytes that were sent last, while the store says that a read would give them again.
async fn remembered(
    tenant: &Tenant,
    user: UserId,
    shared: &Shared,
    question: &str,
) -> Result<Option<Bytes>, Failure> {
    let Some(page) = shared.pages.get(tenant.id(), user, question).await else {
        shared.pages.count(Outcome::Read);
        return Ok(None);
    };
    let version = tenant.read_version(user).await?;
    let body = page.still(version, tenant.epoch(), tenant.clock().now());
    if body.is_some() {
        shared.counters.read(Read::RecentByUser, 0);
        shared.pages.count(Outcome::Remembered);
    } else {
        shared.pages.count(Outcome::Changed);
    }
    Ok(body)
}

fn written(
    tenant: &Tenant,
    turns: Vec<TurnBody>,
    (next, filters): (Option<Position>, Filters),
    pending_excluded: u32,
) -> Result<Bytes, Failure> {
    let answer = RecentAnswer {
        turns,
        next_cursor: next.map(|position| Cursor::encode(position, filters)),
        pending_excluded,
        erasure_epoch: tenant.epoch(),
    };
    let body = serde_json::to_vec(&answer).map_err(Failure::internal)?;
    Ok(Bytes::from(body))
}

fn json(body: Bytes) -> Response {
    ([(CONTENT_TYPE, "application/json")], body).into_response()
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
