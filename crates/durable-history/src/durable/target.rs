//! What of a plugin's call reaches the store, and under which key.

use throughline_conversation_memory::{ChannelScope, ClientMessageId, InvalidName, QueuedAuthor};
use throughline_domain::{TenantId, Timestamp};

use super::DurableConversationHistory;
use crate::author::author;
use crate::hot::Owner;
use crate::{FinishedTurn, TurnContext};

/// Where a call goes in the store, and for whom.
pub(super) struct Target {
    pub(super) tenant: TenantId,
    pub(super) scope: ChannelScope,
    pub(super) author: QueuedAuthor,
}

impl DurableConversationHistory {
    /// What of a call reaches the store. `None` where nothing does: no tenant, nobody who spoke, no
    /// service now or later. An error where the store has no name for the scope.
    pub(super) fn target(
        &self,
        context: &TurnContext,
        scope: &str,
    ) -> Result<Option<Target>, InvalidName> {
        let (Some(tenant), Some(author)) = (context.tenant.clone(), author(context)) else {
            return Ok(None);
        };
        if !self.shared.memory.may_come() {
            return Ok(None);
        }
        let scope = self.channel_scope(scope)?;
        Ok(Some(Target {
            tenant,
            scope,
            author,
        }))
    }

    pub(super) fn channel_scope(&self, scope: &str) -> Result<ChannelScope, InvalidName> {
        ChannelScope::new(self.shared.kind.clone(), scope)
    }

    /// The key that every attempt to write the turn has: the channel's own, or a new one.
    pub(super) fn key(
        &self,
        target: &Target,
        turn: &FinishedTurn,
        now: Timestamp,
    ) -> ClientMessageId {
        let Target { tenant, scope, .. } = target;
        match turn.named() {
            Some(id) => ClientMessageId::from_turn_id(tenant, scope, id),
            None => ClientMessageId::parse(&self.shared.ids.ulid(now).to_string())
                .expect("a ULID is 26 plain characters"),
        }
    }

    /// Drops what must not be served any more.
    pub(super) fn heed_epoch(&self, owner: &Owner) {
        if let (Some(tenant), Some(service)) = (owner, self.shared.memory.service()) {
            self.shared.heed_epoch(&service, tenant);
        }
    }
}
