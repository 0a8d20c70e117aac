//! `/admin/tenants/{tenant}/audit`

mod export;
mod list;

use throughline_conversation_memory::{AuditOp, AuditQuery};
use throughline_wire::{AuditCursor, Place, Problem};

use crate::query::Query;

pub(crate) use export::export;
pub(crate) use list::list;

/// `op`, `since_ms` (from then on), `until_ms` (before then) and `cursor`.
fn asked(query: &Query, limit: u32) -> Result<AuditQuery, Problem> {
    let word = query.text("op")?;
    let op = word.map(|word| {
        AuditOp::parse(&word).ok_or_else(|| {
            let words = AuditOp::ALL.map(AuditOp::as_str).join(", ");
            Place::Parameter("op").invalid(format!("op is one of {words}"))
        })
    });
    let cursor = query.text("cursor")?;
    let before = cursor.map(|cursor| AuditCursor::decode(&cursor));
    Ok(AuditQuery {
        op: op.transpose()?,
        since: query.moment("since_ms")?,
        until: query.moment("until_ms")?,
        before: before.transpose()?,
        limit,
    })
}
