//! A turn as it is read.

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

/// One stored turn.
#[derive(Clone, Debug, PartialEq)]
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
