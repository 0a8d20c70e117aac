//! Bodies of reads.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use throughline_conversation_memory::{ContentForm, ContextBlock, Turn};
use throughline_domain::{Json, Timestamp, TurnId, UserId};
use utoipa::ToSchema;

/// One turn. Optional fields are absent when there is nothing.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
pub struct TurnBody {
    /// Its id.
    #[schema(value_type = String)]
    pub id: TurnId,
    /// Its place in the tenant's commit order.
    pub seq: u64,
    /// Whose it is: in a channel scope several people speak, and an erasure is about one of them.
    #[schema(value_type = String)]
    pub user_id: UserId,
    /// The channel.
    pub channel_kind: String,
    /// The conversation within the channel.
    pub channel_scope: String,
    /// The canvas it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub canvas_session_id: Option<String>,
    /// The user's words.
    pub user_message: String,
    /// The assistant's words.
    pub assistant_answer: String,
    /// Any JSON, as it was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub tool_calls: Option<Box<RawValue>>,
    /// A JSON object, as it was sent.
    #[schema(value_type = Object)]
    pub metadata: Box<RawValue>,
    /// When it was said.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// The same, in epoch milliseconds.
    pub timestamp_ms: i64,
    /// `pending`, `clean` or `redacted`.
    pub redaction_state: String,
    /// True in a raw read when the tenant stores masked text only: what was typed is nowhere.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub raw_unavailable: bool,
}

impl TurnBody {
    /// A turn of a raw read (T-30).
    pub fn raw(turn: Turn) -> Result<Self, serde_json::Error> {
        let raw_unavailable = turn.form == ContentForm::Masked;
        let body = Self::try_from(turn)?;
        Ok(Self {
            raw_unavailable,
            ..body
        })
    }
}

/// The id only: the rest is somebody's conversation.
impl std::fmt::Debug for TurnBody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TurnBody({}, ***)", self.id)
    }
}

impl TryFrom<Turn> for TurnBody {
    type Error = serde_json::Error;

    /// Fails when the store hands back a document that is no JSON.
    fn try_from(turn: Turn) -> Result<Self, serde_json::Error> {
        let raw = |json: &Json| RawValue::from_string(json.as_str().to_owned());
        Ok(Self {
            id: turn.id,
            seq: turn.seq,
            user_id: turn.user_id,
            channel_kind: turn.scope.kind().as_str().to_owned(),
            channel_scope: turn.scope.id().to_owned(),
            canvas_session_id: turn.canvas.map(|canvas| canvas.as_str().to_owned()),
            user_message: turn.user_message,
            assistant_answer: turn.assistant_answer,
            tool_calls: turn.tool_calls.as_ref().map(raw).transpose()?,
            metadata: raw(&turn.metadata)?,
            created_at: turn.created_at,
            timestamp_ms: turn.created_at.as_millis(),
            redaction_state: turn.redaction.state().as_str().to_owned(),
            raw_unavailable: false,
        })
    }
}

/// `GET /v1/tenants/{tenant}/users/{user_id}/turns`.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct RecentAnswer {
    /// Newest first.
    pub turns: Vec<TurnBody>,
    /// Send it as `cursor` for the next page; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// Turns left out because they are not scanned yet.
    pub pending_excluded: u32,
    /// The tenant's erasure epoch: drop what is cached when it jumps. Absent when it could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erasure_epoch: Option<u64>,
}

/// `GET /v1/tenants/{tenant}/history`.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct HistoryAnswer {
    /// Oldest first.
    pub turns: Vec<TurnBody>,
    /// The tenant's erasure epoch: drop what is cached when it jumps. Absent when it could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erasure_epoch: Option<u64>,
}

/// `GET /v1/tenants/{tenant}/users/{user_id}/context`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ContextAnswer {
    /// Markdown for a prompt; empty when there is nothing to say.
    pub block: String,
    /// The turns it quotes, newest first.
    #[schema(value_type = Vec<String>)]
    pub turn_ids: Vec<TurnId>,
    /// The tenant's erasure epoch: drop what is cached when it jumps. Absent when it could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erasure_epoch: Option<u64>,
}

impl ContextAnswer {
    /// The block with the tenant's epoch beside it.
    pub fn new(block: ContextBlock, erasure_epoch: Option<u64>) -> Self {
        Self {
            block: block.block,
            turn_ids: block.turn_ids,
            erasure_epoch,
        }
    }
}
