//! Bodies of the audit trail.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use throughline_conversation_memory::AuditEvent;
use throughline_domain::{AuditId, Timestamp, UserId};
use utoipa::ToSchema;

/// One entry: who did what to whom, with numbers and never with content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AuditEventAnswer {
    /// Its id, ascending in time.
    #[schema(value_type = String)]
    pub id: AuditId,
    /// Who did it.
    pub actor: String,
    /// `read_raw`, `forget_user`, `merge_identities`, `undo_merge` or `revoke_claim`.
    pub op: String,
    /// Whom it was done to; absent once they were erased.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub user_id: Option<UserId>,
    /// The other one, of a merge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub target_id: Option<UserId>,
    /// The operation's own keys, the same for every entry of it.
    #[schema(value_type = Object)]
    pub detail: Value,
    /// When.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}

/// `GET /admin/tenants/{tenant}/audit`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AuditAnswer {
    /// Newest first.
    pub events: Vec<AuditEventAnswer>,
    /// Where the next page goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

impl From<AuditEvent> for AuditEventAnswer {
    fn from(event: AuditEvent) -> Self {
        Self {
            id: event.id,
            actor: event.actor.to_string(),
            op: event.detail.op().as_str().to_owned(),
            user_id: event.user_id,
            target_id: event.target_id,
            detail: event.detail.to_value(),
            created_at: event.created_at,
        }
    }
}
