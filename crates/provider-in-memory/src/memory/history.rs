//! The latest turns of one channel scope.

use std::sync::Arc;

use throughline_conversation_memory::{ChannelScope, Limit, RedactionState};
use throughline_domain::Timestamp;

use super::window::{end, newest_first, oldest_kept};
use crate::state::{Row, TenantState};

/// Oldest first. The scope's index holds only what was stored after the last clearing.
pub(super) fn find(
    state: &TenantState,
    scope: &ChannelScope,
    limit: Limit,
    now: Timestamp,
) -> Vec<Arc<Row>> {
    let Some(turns) = state.log.by_scope.get(scope) else {
        return Vec::new();
    };
    let ttl = state.tenant.config.ttl();
    let mut rows: Vec<_> = newest_first(turns, oldest_kept(now, ttl)..end())
        .filter(|row| row.is_readable(now, ttl))
        .filter(|row| row.said.redaction().state() != RedactionState::Pending)
        .take(usize::try_from(limit.get()).unwrap_or(usize::MAX))
        .cloned()
        .collect();
    rows.reverse();
    rows
}
