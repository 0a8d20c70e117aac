//! A finished turn on its way in: the one place that decides what may be stored.

use serde_json::Value;
use throughline_domain::{Json, Timestamp, UserId, check_text};

use crate::{
    CanvasSessionId, ChannelScope, ClientMessageId, ContentForm, InvalidTurn, JSON_DEPTH,
    MAX_ASSISTANT_ANSWER_BYTES, MAX_METADATA_BYTES, MAX_TOOL_CALLS_BYTES, MAX_USER_MESSAGE_BYTES,
    MaskedContent, Redaction, RequestDigest,
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
    pub(crate) key: ClientMessageId,
    pub(crate) user: UserId,
    pub(crate) scope: ChannelScope,
    pub(crate) canvas: Option<CanvasSessionId>,
    pub(crate) said_at: Option<Timestamp>,
    pub(crate) user_message: String,
    pub(crate) assistant_answer: String,
    pub(crate) tool_calls: Option<Json>,
    pub(crate) metadata: Json,
    pub(crate) digest: RequestDigest,
    pub(crate) redaction: Redaction,
    pub(crate) form: ContentForm,
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
            // Fails closed: a turn that nobody scans is read by nobody.
            redaction: Redaction::pending(),
            form: ContentForm::Raw,
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

    /// What a scan found; pending until [`with_redaction`](Self::with_redaction).
    pub fn redaction(&self) -> &Redaction {
        &self.redaction
    }

    /// In which form the texts are stored.
    pub fn form(&self) -> ContentForm {
        self.form
    }

    /// The turn with the result of its scan.
    #[must_use]
    pub fn with_redaction(mut self, redaction: Redaction) -> Self {
        self.redaction = redaction;
        self
    }

    /// The turn with masked texts in the place of the original ones. The digest stays that of the
    /// original, so that a retry is still known as one.
    #[must_use]
    pub fn with_masked_content(mut self, content: MaskedContent, redaction: Redaction) -> Self {
        self.user_message = content.user_message;
        self.assistant_answer = content.assistant_answer;
        self.tool_calls = content.tool_calls;
        self.metadata = content.metadata;
        self.form = ContentForm::Masked;
        self.redaction = redaction;
        self
    }

    /// The turn as one that arrived then: it lands there if it does not say itself when it was said. The
    /// digest stays, so that the same turn sent directly is still known as the same.
    #[must_use]
    pub fn received_at(mut self, at: Timestamp) -> Self {
        self.said_at.get_or_insert(at);
        self
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{ChannelKind, ChannelScope};

    fn draft(user_message: &str) -> TurnDraft {
        let kind = ChannelKind::parse("slack-user").unwrap();
        TurnDraft {
            key: ClientMessageId::parse("k1").unwrap(),
            user: UserId::from_u128(1),
            scope: ChannelScope::new(kind, "C1").unwrap(),
            canvas: None,
            said_at: None,
            user_message: user_message.to_owned(),
            assistant_answer: String::new(),
            tool_calls: None,
            metadata: None,
        }
    }

    fn fault(draft: TurnDraft) -> InvalidTurn {
        draft.validate().err().expect("a refusal")
    }

    /// failures.md 7, T-59: limit − 1 and limit pass, limit + 1 is refused, counted in bytes.
    #[track_caller]
    fn assert_limit(field: &'static str, max: usize, with: impl Fn(usize) -> TurnDraft) {
        assert!(with(max - 1).validate().is_ok(), "{field} below its limit");
        assert!(with(max).validate().is_ok(), "{field} at its limit");
        let bytes = max + 1;
        assert_eq!(
            fault(with(bytes)),
            InvalidTurn::TooLarge { field, bytes, max }
        );
    }

    #[test]
    fn each_field_has_one_limit_that_is_exact() {
        assert_limit("turn.user_message", MAX_USER_MESSAGE_BYTES, |bytes| {
            draft(&"x".repeat(bytes))
        });
        assert_limit(
            "turn.assistant_answer",
            MAX_ASSISTANT_ANSWER_BYTES,
            |bytes| TurnDraft {
                assistant_answer: "x".repeat(bytes),
                ..draft("")
            },
        );
        assert_limit("tool_calls", MAX_TOOL_CALLS_BYTES, |bytes| TurnDraft {
            tool_calls: Some(json!("x".repeat(bytes - 2))),
            ..draft("hi")
        });
        assert_limit("metadata", MAX_METADATA_BYTES, |bytes| TurnDraft {
            metadata: Some(json!({"m": "x".repeat(bytes - 8)})),
            ..draft("hi")
        });
    }

    #[test]
    fn limits_count_bytes_and_not_characters() {
        let text = "é".repeat(MAX_USER_MESSAGE_BYTES / 2);
        assert!(draft(&text).validate().is_ok());
        assert_eq!(
            fault(draft(&format!("{text}é"))),
            InvalidTurn::TooLarge {
                field: "turn.user_message",
                bytes: MAX_USER_MESSAGE_BYTES + 2,
                max: MAX_USER_MESSAGE_BYTES
            }
        );
    }

    // failures.md 25, T-60
    #[test]
    fn a_nul_is_refused_in_every_field() {
        let nul = "a\0b";
        let answer = TurnDraft {
            assistant_answer: nul.to_owned(),
            ..draft("hi")
        };
        let tools = TurnDraft {
            tool_calls: Some(json!([{ "a": nul }])),
            ..draft("hi")
        };
        let metadata = TurnDraft {
            metadata: Some(json!({ nul: 1 })),
            ..draft("hi")
        };
        for (draft, field) in [
            (draft(nul), "turn.user_message"),
            (answer, "turn.assistant_answer"),
            (tools, "tool_calls"),
            (metadata, "metadata"),
        ] {
            assert_eq!(fault(draft), InvalidTurn::Text { field });
        }
    }

    #[test]
    fn a_turn_without_words_is_refused_and_white_space_is_words() {
        assert_eq!(fault(draft("")), InvalidTurn::Empty);
        assert!(draft(" ").validate().is_ok());
    }

    #[test]
    fn metadata_is_an_object_and_null_is_none() {
        for value in [json!([]), json!(1), json!("{}")] {
            let refused = TurnDraft {
                metadata: Some(value),
                ..draft("hi")
            };
            assert_eq!(fault(refused), InvalidTurn::MetadataNotAnObject);
        }
        let null = TurnDraft {
            metadata: Some(Value::Null),
            tool_calls: Some(Value::Null),
            ..draft("hi")
        };
        let turn = null.validate().ok().unwrap();
        assert_eq!((turn.tool_calls(), turn.metadata().as_str()), (None, "{}"));
    }

    #[test]
    fn json_may_nest_eight_levels() {
        let nested = |levels: usize| TurnDraft {
            tool_calls: Some((0..levels).fold(json!(1), |inner, _| json!([inner]))),
            ..draft("hi")
        };
        assert!(nested(JSON_DEPTH).validate().is_ok());
        assert!(matches!(
            fault(nested(JSON_DEPTH + 1)),
            InvalidTurn::Json {
                field: "tool_calls",
                ..
            }
        ));
    }

    // `Zürich 🚆` has 12 bytes; T-59: tools and metadata count, `{}` does not.
    #[test]
    fn bytes_are_octets_of_everything_that_is_stored() {
        let turn = TurnDraft {
            tool_calls: Some(json!([])),
            metadata: Some(json!({"a": 1})),
            ..draft("Zürich 🚆")
        };
        let turn = turn.validate().ok().unwrap();
        assert_eq!((turn.user_message_bytes(), turn.aux_bytes()), (12, 9));
        assert_eq!(turn.bytes(), 21);
        assert_eq!(draft("x").validate().ok().unwrap().bytes(), 1);
    }
}
