//! The append's body, and how it becomes a turn that every provider accepts: the one place that
//! validates what comes over HTTP.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use throughline_conversation_memory::{
    AppendOutcome, Appended, CanvasSessionId, ChannelKind, ChannelScope, ClientMessageId, NewTurn,
    QueuedAppend, QueuedAuthor, TurnDraft,
};
use throughline_domain::{TenantId, Timestamp, TurnId, UserId, check_text};
use throughline_platform_identity::ChannelUser;
use utoipa::ToSchema;

use crate::{Code, Place, Problem, RefBody, key_problem, name_problem, text_problem, turn_problem};

const MAX_TURN_ID_BYTES: usize = 512;

/// `POST /v1/tenants/{tenant}/turns`. Null and absent are the same.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AppendBody {
    /// The caller's key for this turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_message_id: Option<String>,
    /// The caller's name for this turn within its scope; a key is derived from it (T-12).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<String>,
    /// The author, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
    /// The author, as the channel names them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r#ref: Option<RefBody>,
    /// The channel.
    pub channel_kind: String,
    /// The conversation within the channel.
    pub channel_scope: String,
    /// The canvas it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub canvas_session_id: Option<String>,
    /// What was said.
    pub turn: TurnText,
    /// Any JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_calls: Option<Value>,
    /// A JSON object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub metadata: Option<Value>,
}

/// The two texts of a turn, and when they were said. A text that is absent is empty.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TurnText {
    /// The user's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_message: Option<String>,
    /// The assistant's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assistant_answer: Option<String>,
    /// When, by the caller's clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp_ms: Option<i64>,
}

/// Sizes only: the rest is somebody's conversation.
impl std::fmt::Debug for AppendBody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("AppendBody(***)")
    }
}

impl std::fmt::Debug for TurnText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TurnText(***)")
    }
}

/// Who said it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Author {
    /// A user the caller knows.
    User(UserId),
    /// A channel user, still to be resolved.
    Channel(ChannelUser),
}

/// Where the turn's key came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeySource {
    /// The caller gave it, or something it is derived from: a retry is safe.
    Caller,
    /// We made it up: a retry would store the turn again.
    Minted,
}

/// A turn that may go to the store once its author is known.
#[derive(Clone)]
pub struct CheckedAppend {
    /// Who said it.
    pub author: Author,
    /// Whether a retry is safe.
    pub key_source: KeySource,
    turn: NewTurn,
}

impl CheckedAppend {
    /// The turn's key.
    pub fn key(&self) -> &ClientMessageId {
        self.turn.key()
    }

    /// The channel kind.
    pub fn channel_kind(&self) -> &ChannelKind {
        self.turn.scope().kind()
    }

    /// When it was said, if the caller said so.
    pub fn said_at(&self) -> Option<Timestamp> {
        self.turn.said_at()
    }

    /// The turn, said by this user.
    pub fn said_by(self, user: UserId) -> NewTurn {
        self.turn.for_user(user)
    }

    /// The turn as one that waits, with its author as far as they are known.
    pub fn queued(self, author: QueuedAuthor, arrived_at: Timestamp) -> QueuedAppend {
        QueuedAppend::new(author, self.turn, arrived_at)
    }
}

impl AppendBody {
    /// Checks everything that can be checked without a store; `mint` makes a key when the caller gave
    /// none. The first fault, in the order of the fields above, is the answer.
    pub fn check(
        self,
        tenant: &TenantId,
        mint: impl FnOnce() -> ClientMessageId,
    ) -> Result<CheckedAppend, Problem> {
        let given = self.client_message_id.clone();
        self.check_fields(tenant, mint)
            .map_err(|problem| match given {
                Some(key) if ClientMessageId::parse(&key).is_ok() => problem.about(key),
                _ => problem,
            })
    }

    fn check_fields(
        self,
        tenant: &TenantId,
        mint: impl FnOnce() -> ClientMessageId,
    ) -> Result<CheckedAppend, Problem> {
        let author = author(self.user_id.as_deref(), self.r#ref.as_ref())?;
        let scope = ChannelKind::parse(&self.channel_kind)
            .map_err(|fault| name_problem(&fault, Place::Body("/channel_kind")))
            .and_then(|kind| {
                ChannelScope::new(kind, &self.channel_scope)
                    .map_err(|fault| name_problem(&fault, Place::Body("/channel_scope")))
            })?;
        let (key, key_source) = match (&self.client_message_id, &self.turn_id) {
            (Some(key), _) => (given_key(key)?, KeySource::Caller),
            (None, Some(turn_id)) => (derived_key(tenant, &scope, turn_id)?, KeySource::Caller),
            (None, None) => (mint(), KeySource::Minted),
        };
        let canvas = self
            .canvas_session_id
            .map(|id| {
                CanvasSessionId::parse(&id)
                    .map_err(|fault| name_problem(&fault, Place::Body("/canvas_session_id")))
            })
            .transpose()?;
        let draft = TurnDraft {
            key,
            // The digest leaves the user out, and `said_by` puts the real one in.
            user: match author {
                Author::User(user) => user,
                Author::Channel(_) => UserId::from_u128(0),
            },
            scope,
            canvas,
            said_at: moment(self.turn.timestamp_ms, "/turn/timestamp_ms")?,
            user_message: self.turn.user_message.unwrap_or_default(),
            assistant_answer: self.turn.assistant_answer.unwrap_or_default(),
            tool_calls: self.tool_calls,
            metadata: self.metadata,
        };
        let turn = draft.validate().map_err(|fault| turn_problem(&fault))?;
        Ok(CheckedAppend {
            author,
            key_source,
            turn,
        })
    }
}

fn author(user_id: Option<&str>, channel_user: Option<&RefBody>) -> Result<Author, Problem> {
    match (user_id, channel_user) {
        (Some(id), None) => id
            .parse()
            .map(Author::User)
            .map_err(|fault| Place::Body("/user_id").invalid(format!("{fault}"))),
        (None, Some(channel_user)) => channel_user.check("/ref").map(Author::Channel),
        (Some(_), Some(_)) => {
            let detail = "user_id and ref are both given; send one of them";
            Err(Problem::new(Code::InvalidAuthor, detail))
        }
        (None, None) => {
            let detail = "neither user_id nor ref is given; send one of them";
            Err(Problem::new(Code::InvalidAuthor, detail))
        }
    }
}

fn given_key(key: &str) -> Result<ClientMessageId, Problem> {
    ClientMessageId::parse(key)
        .map_err(|fault| key_problem(&fault, Place::Body("/client_message_id")))
}

fn derived_key(
    tenant: &TenantId,
    scope: &ChannelScope,
    turn_id: &str,
) -> Result<ClientMessageId, Problem> {
    check_text(turn_id, 1, MAX_TURN_ID_BYTES)
        .map_err(|fault| text_problem(&fault, Place::Body("/turn_id")))?;
    Ok(ClientMessageId::from_turn_id(tenant, scope, turn_id))
}

/// The moment in milliseconds that stood at `pointer`.
pub(crate) fn moment(
    timestamp_ms: Option<i64>,
    pointer: &str,
) -> Result<Option<Timestamp>, Problem> {
    let Some(millis) = timestamp_ms else {
        return Ok(None);
    };
    let moment = Timestamp::from_millis(millis);
    if moment.as_millis() == millis {
        Ok(Some(moment))
    } else {
        let detail = "the moment is out of range; send milliseconds since 1970";
        Err(Place::Body(pointer).invalid(detail))
    }
}

/// An append that is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AppendAnswer {
    /// The turn's id, the first one for a duplicate.
    #[schema(value_type = String)]
    pub message_id: TurnId,
    /// Whose turn it is: the survivor, when a merged id was given.
    #[schema(value_type = String)]
    pub user_id: UserId,
    /// Its place in the tenant's commit order; absent when the store lost its own answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// Whether an earlier call had stored it.
    pub duplicate: bool,
    /// `pending`, `clean` or `redacted`; absent when the store lost its own answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redaction_state: Option<String>,
    /// The key it is stored under.
    pub client_message_id: String,
    /// `false` when the caller gave no key: a retry would store the turn again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_safe: Option<bool>,
    /// What went wrong after the turn was stored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// The tenant's erasure epoch: drop what is cached when it jumps. Absent when it could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erasure_epoch: Option<u64>,
}

impl AppendAnswer {
    /// With the tenant's epoch beside it; in a batch it stands beside all results.
    #[must_use]
    pub fn at_epoch(self, erasure_epoch: Option<u64>) -> Self {
        Self {
            erasure_epoch,
            ..self
        }
    }

    /// The answer to a plain success.
    pub fn new(key: &ClientMessageId, source: KeySource, appended: &Appended) -> Self {
        Self {
            message_id: appended.turn_id,
            user_id: appended.user_id,
            seq: Some(appended.seq),
            duplicate: appended.outcome == AppendOutcome::Duplicate,
            redaction_state: Some(appended.redaction_state.as_str().to_owned()),
            client_message_id: key.as_str().to_owned(),
            retry_safe: (source == KeySource::Minted).then_some(false),
            warnings: Vec::new(),
            erasure_epoch: None,
        }
    }

    /// The answer when the turn is stored and the store's own answer was lost.
    pub fn committed(
        key: &ClientMessageId,
        source: KeySource,
        turn_id: TurnId,
        user: UserId,
        warning: String,
    ) -> Self {
        Self {
            message_id: turn_id,
            user_id: user,
            seq: None,
            duplicate: false,
            redaction_state: None,
            client_message_id: key.as_str().to_owned(),
            retry_safe: (source == KeySource::Minted).then_some(false),
            warnings: vec![warning],
            erasure_epoch: None,
        }
    }

    /// The HTTP status that comes with it: 201 for a turn stored by this call.
    pub fn status(&self) -> u16 {
        if self.duplicate || !self.warnings.is_empty() {
            200
        } else {
            201
        }
    }
}

#[cfg(test)]
mod tests;
