//! A finished turn on its way in: the one place that decides what may be stored.

use serde_json::Value;
use throughline_domain::{Json, Timestamp, UserId, check_text};

use crate::{
    CanvasSessionId, ChannelScope, ClientMessageId, InvalidTurn, JSON_DEPTH,
    MAX_ASSISTANT_ANSWER_BYTES, MAX_METADATA_BYTES, MAX_TOOL_CALLS_BYTES, MAX_USER_MESSAGE_BYTES,
    RedactionState, RequestDigest,
};

/// What a caller sent, not yet checked.
#[derive(Clone)]
pub struct TurnDraft {
    /// The caller's key.
    pub key: ClientMessageId,
    /// Who said it. A merged id is answered with its survivor.
    pub user: UserId,
    /// Where.
    pub scope: ChannelScope,
    /// The canvas it belongs to.
    pub canvas: Option<CanvasSessionId>,
    /// When it was said, by the caller's clock.
    pub said_at: Option<Timestamp>,
    /// The user's words.
    pub user_message: String,
    /// The assistant's words.
    pub assistant_answer: String,
    /// Tool calls, any JSON but null.
    pub tool_calls: Option<Value>,
    /// Metadata, a JSON object; null and absent are `{}`.
    pub metadata: Option<Value>,
}

/// A turn that every provider accepts: no NUL, within all limits, not empty.
#[derive(Clone)]
pub struct NewTurn {
    key: ClientMessageId,
    user: UserId,
    scope: ChannelScope,
    canvas: Option<CanvasSessionId>,
    said_at: Option<Timestamp>,
    user_message: String,
    assistant_answer: String,
    tool_calls: Option<Json>,
    metadata: Json,
    digest: RequestDigest,
    redaction_state: RedactionState,
}

impl TurnDraft {
    /// Checks every field, in the order they are listed; nothing is altered but JSON white space and
    /// key order.
    pub fn validate(self) -> Result<NewTurn, InvalidTurn> {
        let text = |field, text: &str, max| {
            check_text(text, 0, max).map_err(|fault| InvalidTurn::text(field, &fault))
        };
        text(
            "turn.user_message",
            &self.user_message,
            MAX_USER_MESSAGE_BYTES,
        )?;
        text(
            "turn.assistant_answer",
            &self.assistant_answer,
            MAX_ASSISTANT_ANSWER_BYTES,
        )?;
        if self.user_message.is_empty() && self.assistant_answer.is_empty() {
            return Err(InvalidTurn::Empty);
        }
        let tool_calls = json("tool_calls", self.tool_calls, MAX_TOOL_CALLS_BYTES)?;
        let metadata =
            json("metadata", self.metadata, MAX_METADATA_BYTES)?.unwrap_or_else(Json::empty_object);
        if !metadata.as_str().starts_with('{') {
            return Err(InvalidTurn::MetadataNotAnObject);
        }
        let mut turn = NewTurn {
            key: self.key,
            user: self.user,
            scope: self.scope,
            canvas: self.canvas,
            said_at: self.said_at,
            user_message: self.user_message,
            assistant_answer: self.assistant_answer,
            tool_calls,
            metadata,
            digest: RequestDigest::default(),
            redaction_state: RedactionState::Clean,
        };
        turn.digest = RequestDigest::of(&turn);
        Ok(turn)
    }
}

fn json(
    field: &'static str,
    value: Option<Value>,
    max: usize,
) -> Result<Option<Json>, InvalidTurn> {
    value
        .filter(|value| !value.is_null())
        .map(|value| Json::from_value(&value, JSON_DEPTH, max))
        .transpose()
        .map_err(|fault| InvalidTurn::json(field, &fault))
}

impl NewTurn {
    /// The caller's key.
    pub fn key(&self) -> &ClientMessageId {
        &self.key
    }

    /// Who said it, as the caller named them.
    pub fn user(&self) -> UserId {
        self.user
    }

    /// The same turn for another user: a caller that names a channel user is checked before that user
    /// is resolved, so that a refused turn never makes one.
    #[must_use]
    pub fn for_user(mut self, user: UserId) -> Self {
        self.user = user;
        self
    }

    /// Where it was said.
    pub fn scope(&self) -> &ChannelScope {
        &self.scope
    }

    /// The canvas it belongs to.
    pub fn canvas(&self) -> Option<&CanvasSessionId> {
        self.canvas.as_ref()
    }

    /// When it was said, by the caller's clock.
    pub fn said_at(&self) -> Option<Timestamp> {
        self.said_at
    }

    /// The user's words.
    pub fn user_message(&self) -> &str {
        &self.user_message
    }

    /// The assistant's words.
    pub fn assistant_answer(&self) -> &str {
        &self.assistant_answer
    }

    /// Tool calls.
    pub fn tool_calls(&self) -> Option<&Json> {
        self.tool_calls.as_ref()
    }

    /// Metadata.
    pub fn metadata(&self) -> &Json {
        &self.metadata
    }

    /// What tells a retry from another turn under the same key.
    pub fn digest(&self) -> RequestDigest {
        self.digest
    }

    /// In which redaction state the row lands.
    pub fn redaction_state(&self) -> RedactionState {
        self.redaction_state
    }

    /// UTF-8 bytes of the user's message.
    pub fn user_message_bytes(&self) -> u64 {
        self.user_message.len() as u64
    }

    /// UTF-8 bytes of the answer.
    pub fn assistant_bytes(&self) -> u64 {
        self.assistant_answer.len() as u64
    }

    /// UTF-8 bytes of tool calls and metadata; `{}` metadata counts nothing (T-59).
    pub fn aux_bytes(&self) -> u64 {
        let tools = self
            .tool_calls
            .as_ref()
            .map_or(0, |json| json.as_str().len());
        let metadata = self.metadata.as_str().len();
        (tools + if metadata > 2 { metadata } else { 0 }) as u64
    }

    /// What the turn adds to its user's byte counter.
    pub fn bytes(&self) -> u64 {
        self.user_message_bytes() + self.assistant_bytes() + self.aux_bytes()
    }
}
