//! A turn as it is read.

use std::fmt;

use throughline_domain::{Json, Timestamp, TurnId, UserId};

use crate::{CanvasSessionId, ChannelScope, ContentForm, Redaction};

/// Whether a turn was looked through for personal data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedactionState {
    /// Not yet: no default reader sees it.
    Pending,
    /// Nothing was found.
    Clean,
    /// Something was found: default readers get masks.
    Redacted,
}

impl RedactionState {
    /// The word in SQL and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Clean => "clean",
            Self::Redacted => "redacted",
        }
    }

    /// Reads the word back.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Pending, Self::Clean, Self::Redacted]
            .into_iter()
            .find(|s| s.as_str() == word)
    }
}

/// One stored turn. Debug shows no word of it, only ids and sizes (failures.md 33).
#[derive(Clone, PartialEq)]
pub struct Turn {
    /// Its id.
    pub id: TurnId,
    /// Its place in the tenant's commit order.
    pub seq: u64,
    /// Whose it is.
    pub user_id: UserId,
    /// Where it was said.
    pub scope: ChannelScope,
    /// The canvas it belongs to.
    pub canvas: Option<CanvasSessionId>,
    /// The user's words.
    pub user_message: String,
    /// The assistant's words.
    pub assistant_answer: String,
    /// Tool calls.
    pub tool_calls: Option<Json>,
    /// Metadata.
    pub metadata: Json,
    /// When it was said, after clamping (T-26).
    pub created_at: Timestamp,
    /// What looking through it found. The texts here are as stored; masks are the reader's to put
    /// on, unless `form` says they were stored masked.
    pub redaction: Redaction,
    /// In which form the texts are stored.
    pub form: ContentForm,
}

impl fmt::Debug for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.redaction.state().as_str();
        let (said, answered) = (self.user_message.len(), self.assistant_answer.len());
        let (id, seq, at) = (self.id, self.seq, self.created_at);
        write!(
            f,
            "Turn({id}, seq {seq}, at {at}, {said}+{answered} bytes, {state})"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ChannelKind;

    // failures.md 33, T-66
    #[test]
    fn debug_output_shows_no_word_and_no_scope() {
        let turn = Turn {
            id: TurnId::from_u128(1),
            seq: 7,
            user_id: UserId::from_u128(2),
            scope: ChannelScope::new(ChannelKind::parse("custom").unwrap(), "sentinel").unwrap(),
            canvas: Some(CanvasSessionId::parse("sentinel").unwrap()),
            user_message: "sentinel".to_owned(),
            assistant_answer: "sentinel".to_owned(),
            tool_calls: Some(Json::from_stored("\"sentinel\"")),
            metadata: Json::from_stored("{\"sentinel\":1}"),
            created_at: Timestamp::from_millis(0),
            redaction: Redaction::clean(1),
            form: ContentForm::Raw,
        };
        let printed = format!("{turn:?}");
        assert!(!printed.contains("sentinel"), "{printed}");
        assert!(printed.contains("seq 7") && printed.contains("8+8 bytes"));
    }
}
