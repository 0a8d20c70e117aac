//! Reading what people really typed, with a trace.

use async_trait::async_trait;
use throughline_domain::{Actor, TenantId, UserId};

use crate::{CanvasSessionId, ChannelKind, MemoryError, ReadRaw, RecentPage, RecentQuery, Turn};

/// The way to texts without masks.
#[async_trait]
pub trait RawReads: Send + Sync {
    /// The same turns as [`crate::ConversationMemory::recent`], the pending ones too, every text as it
    /// is stored. Leaves exactly one entry in the audit trail, written in the transaction of the
    /// read: when it cannot be written, nothing is returned.
    async fn recent_raw(
        &self,
        tenant: &TenantId,
        user: UserId,
        query: &RecentQuery,
        actor: &Actor,
    ) -> Result<RecentPage, MemoryError>;
}

impl ReadRaw {
    /// What the trail keeps of a read that returned these turns.
    pub fn of(query: &RecentQuery, turns: &[Turn]) -> Self {
        Self {
            limit: query.limit.get(),
            since_ms: query.since.map(throughline_domain::Timestamp::as_millis),
            exclude_canvas_session_id: query
                .exclude_canvas
                .as_ref()
                .map(CanvasSessionId::as_str)
                .map(str::to_owned),
            channel_kinds: query
                .channel_kinds
                .iter()
                .map(ChannelKind::as_str)
                .map(str::to_owned)
                .collect(),
            returned_count: turns.len() as u64,
        }
    }
}
