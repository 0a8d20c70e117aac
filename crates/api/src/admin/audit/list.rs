//! `GET /admin/tenants/{tenant}/audit?op=&since_ms=&until_ms=&limit=&cursor=`

use throughline_wire::{AuditAnswer, AuditCursor};

use crate::caller::Operator;
use crate::failure::Failure;
use crate::path::PathTenant;
use crate::query::Query;

/// The trail, newest first, a page at a time.
pub(crate) async fn list(
    operator: Operator,
    PathTenant(name): PathTenant,
    query: Query,
) -> Result<axum::Json<AuditAnswer>, Failure> {
    let limit = query.limit()?.get();
    // One more than asked for says whether there is a next page.
    let asked = super::asked(&query, limit + 1)?;
    let mut events = operator.audit().events(&name, &asked).await?;
    let more = events.len() > limit as usize;
    events.truncate(limit as usize);
    let last = events.last().filter(|_| more);
    Ok(axum::Json(AuditAnswer {
        next_cursor: last.map(|event| AuditCursor::encode(event.id)),
        events: events.into_iter().map(Into::into).collect(),
    }))
}
