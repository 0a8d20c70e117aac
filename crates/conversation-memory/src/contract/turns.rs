//! Turns for tests, in one line each.

use serde_json::Value;
use throughline_domain::{Timestamp, UserId};

use crate::{
    CanvasSessionId, ChannelKind, ChannelScope, ClientMessageId, NewTurn, Redaction, TurnDraft,
};

/// Starts a turn of that user under that key: on `slack-user`, scope `C1`, saying "hello".
pub fn turn(user: UserId, key: &str) -> TurnBuilder {
    let kind = ChannelKind::parse("slack-user").expect("a plain word");
    TurnBuilder(TurnDraft {
        key: ClientMessageId::parse(key).expect("a plain key"),
        user,
        scope: ChannelScope::new(kind, "C1").expect("a plain scope"),
        canvas: None,
        said_at: None,
        user_message: "hello".to_owned(),
        assistant_answer: String::new(),
        tool_calls: None,
        metadata: None,
    })
}

/// A turn in the making.
pub struct TurnBuilder(TurnDraft);

impl TurnBuilder {
    /// Said on this channel kind and scope.
    #[must_use]
    pub fn on(mut self, kind: &str, scope: &str) -> Self {
        let kind = ChannelKind::parse(kind).expect("a plain word");
        self.0.scope = ChannelScope::new(kind, scope).expect("a plain scope");
        self
    }

    /// The user's words.
    #[must_use]
    pub fn saying(mut self, text: &str) -> Self {
        text.clone_into(&mut self.0.user_message);
        self
    }

    /// The assistant's words.
    #[must_use]
    pub fn answered(mut self, text: &str) -> Self {
        text.clone_into(&mut self.0.assistant_answer);
        self
    }

    /// Said at this time.
    #[must_use]
    pub fn at(mut self, time: Timestamp) -> Self {
        self.0.said_at = Some(time);
        self
    }

    /// On this canvas.
    #[must_use]
    pub fn canvas(mut self, id: &str) -> Self {
        self.0.canvas = Some(CanvasSessionId::parse(id).expect("a plain id"));
        self
    }

    /// With these tool calls.
    #[must_use]
    pub fn tools(mut self, tool_calls: Value) -> Self {
        self.0.tool_calls = Some(tool_calls);
        self
    }

    /// With this metadata.
    #[must_use]
    pub fn metadata(mut self, metadata: Value) -> Self {
        self.0.metadata = Some(metadata);
        self
    }

    /// The finished turn, scanned and clean, so that a default reader sees it.
    pub fn build(self) -> NewTurn {
        self.pending().with_redaction(Redaction::clean(1))
    }

    /// The finished turn, not scanned yet.
    pub fn pending(self) -> NewTurn {
        self.0.validate().expect("a turn within the limits")
    }
}
