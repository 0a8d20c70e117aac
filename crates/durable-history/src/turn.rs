//! The two shapes of a turn: what a plugin hands in, and what it gets back.

use std::fmt;

use serde_json::Value;
use throughline_domain::Timestamp;

/// A turn that has just ended. Only the two texts are needed, and one of them may be empty.
#[derive(Clone, Default, PartialEq)]
pub struct FinishedTurn {
    /// The user's words.
    pub user_message: String,
    /// The assistant's words.
    pub assistant_answer: String,
    /// When it was said, in milliseconds since 1970; now, if it does not say.
    pub timestamp_ms: Option<i64>,
    /// The channel's own id of the user's message, unique in its scope. With it a message that the
    /// channel delivers twice is one turn; without it every call is a turn of its own.
    pub message_id: Option<String>,
    /// The tools that were called. Stored, never part of the hot history.
    pub tool_calls: Option<Value>,
    /// An object with whatever the plugin wants to keep. Stored, never part of the hot history.
    pub metadata: Option<Value>,
}

impl FinishedTurn {
    /// What was said and what was answered.
    pub fn new(user_message: impl Into<String>, assistant_answer: impl Into<String>) -> Self {
        Self {
            user_message: user_message.into(),
            assistant_answer: assistant_answer.into(),
            ..Self::default()
        }
    }

    /// The same, said then.
    #[must_use]
    pub fn said_at_ms(mut self, timestamp_ms: i64) -> Self {
        self.timestamp_ms = Some(timestamp_ms);
        self
    }

    /// The same, under the channel's own id of the message.
    #[must_use]
    pub fn with_message_id(mut self, id: impl Into<String>) -> Self {
        self.message_id = Some(id.into());
        self
    }

    /// The channel's id of the message. A blank one is none: it would make all turns one (failures.md 11).
    pub(crate) fn named(&self) -> Option<&str> {
        let id = self.message_id.as_deref();
        id.filter(|id| !id.trim().is_empty())
    }

    /// Whether there is nothing in it.
    pub(crate) fn is_empty(&self) -> bool {
        self.user_message.is_empty() && self.assistant_answer.is_empty()
    }

    /// Cut to the millisecond: what the wire carries, so that a turn is known again when it is read.
    pub(crate) fn at(&self, now: Timestamp) -> Timestamp {
        Timestamp::from_millis(self.timestamp_ms.unwrap_or_else(|| now.as_millis()))
    }
}

/// Sizes only (failures.md 33).
impl fmt::Debug for FinishedTurn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (said, answered) = (self.user_message.len(), self.assistant_answer.len());
        write!(f, "FinishedTurn({said}+{answered} bytes)")
    }
}

/// In which form a turn's texts are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Projection {
    /// As they were said: this process heard them.
    Raw,
    /// As the store shows them to a default reader, masks in the place of what it found (T-28).
    Redacted,
}

/// A turn of the history.
#[derive(Clone, PartialEq, Eq)]
pub struct HistoryTurn {
    /// The user's words.
    pub user_message: String,
    /// The assistant's words.
    pub assistant_answer: String,
    /// When it was said, in milliseconds since 1970.
    pub timestamp_ms: i64,
    /// In which form the texts are.
    pub projection: Projection,
}

/// Sizes only (failures.md 33).
impl fmt::Debug for HistoryTurn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (said, answered) = (self.user_message.len(), self.assistant_answer.len());
        let (at, form) = (self.timestamp_ms, self.projection);
        write!(f, "HistoryTurn({said}+{answered} bytes at {at}, {form:?})")
    }
}
