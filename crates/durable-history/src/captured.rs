//! A turn as `append` took it: with everything that is gone when the caller's task is (T-48).

use std::sync::Arc;

use serde_json::Value;
use throughline_conversation_memory::{
    CanvasSessionId, ChannelScope, ClientMessageId, InvalidTurn, QueuedAppend, QueuedAuthor,
    TurnDraft,
};
use throughline_domain::{Timestamp, UserId};

/// Stands in a draft whose user the author names.
const NOBODY: UserId = UserId::from_u128(0);

/// Texts are shared with the hot ring. Nothing is checked yet: that costs time in proportion to the
/// texts, and the caller does not wait for it.
pub(crate) struct Captured {
    pub(crate) author: QueuedAuthor,
    pub(crate) scope: ChannelScope,
    pub(crate) canvas: Option<CanvasSessionId>,
    pub(crate) key: ClientMessageId,
    pub(crate) at: Timestamp,
    /// Whether the plugin said so itself.
    pub(crate) at_given: bool,
    pub(crate) user_message: Arc<str>,
    pub(crate) assistant_answer: Arc<str>,
    pub(crate) tool_calls: Option<Value>,
    pub(crate) metadata: Option<Value>,
}

impl Captured {
    /// What it takes in memory, about.
    pub(crate) fn bytes(&self) -> usize {
        let json = |value: &Option<Value>| value.as_ref().map_or(0, weight);
        self.user_message.len()
            + self.assistant_answer.len()
            + json(&self.tool_calls)
            + json(&self.metadata)
    }

    /// The append, the same each time. NUL is replaced: no store keeps it, and a channel must not lose a
    /// turn over it (T-60).
    pub(crate) fn to_append(&self) -> Result<QueuedAppend, InvalidTurn> {
        let turn = TurnDraft {
            key: self.key.clone(),
            user: NOBODY,
            scope: self.scope.clone(),
            canvas: self.canvas.clone(),
            said_at: self.at_given.then_some(self.at),
            user_message: without_nul(&self.user_message),
            assistant_answer: without_nul(&self.assistant_answer),
            tool_calls: self.tool_calls.clone().map(json_without_nul),
            metadata: self.metadata.clone().map(json_without_nul),
        };
        Ok(QueuedAppend::new(
            self.author.clone(),
            turn.validate()?,
            self.at,
        ))
    }
}

/// The text with U+FFFD in the place of NUL.
pub(crate) fn without_nul(text: &str) -> String {
    text.replace('\0', "\u{FFFD}")
}

fn json_without_nul(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(without_nul(&text)),
        Value::Array(items) => items.into_iter().map(json_without_nul).collect(),
        Value::Object(fields) => fields
            .into_iter()
            .map(|(name, value)| (without_nul(&name), json_without_nul(value)))
            .collect(),
        other => other,
    }
}

/// About what a document takes, without writing it.
fn weight(value: &Value) -> usize {
    const NODE: usize = 32;
    NODE + match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(weight).sum(),
        Value::Object(fields) => fields.iter().map(|(k, v)| k.len() + weight(v)).sum(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use throughline_conversation_memory::ChannelKind;

    use super::*;

    fn captured(user_message: &str) -> Captured {
        Captured {
            author: QueuedAuthor::User(UserId::from_u128(7)),
            scope: ChannelScope::new(ChannelKind::parse("custom").unwrap(), "c").unwrap(),
            canvas: None,
            key: ClientMessageId::parse("k").unwrap(),
            at: Timestamp::from_millis(1_700_000_000_000),
            at_given: false,
            user_message: user_message.into(),
            assistant_answer: "".into(),
            tool_calls: None,
            metadata: None,
        }
    }

    // T-60, failures.md 25
    #[test]
    fn nul_is_replaced_wherever_it_stands() {
        let turn = Captured {
            tool_calls: Some(json!([{"a\0": ["\0b"]}])),
            metadata: Some(json!({"\0": "x\0"})),
            ..captured("a\0b")
        };
        let append = turn.to_append().unwrap();
        assert_eq!(append.turn().user_message(), "a\u{FFFD}b");
        let tools = append.turn().tool_calls().unwrap();
        assert_eq!(tools.as_str(), "[{\"a\u{FFFD}\":[\"\u{FFFD}b\"]}]");
        assert_eq!(
            append.turn().metadata().as_str(),
            "{\"\u{FFFD}\":\"x\u{FFFD}\"}"
        );
    }

    // T-26, R-094
    #[test]
    fn a_turn_lands_when_it_was_said_and_every_retry_is_the_same() {
        let turn = captured("hi");
        let [first, second] = [turn.to_append().unwrap(), turn.to_append().unwrap()];
        assert_eq!(first.turn().said_at(), Some(turn.at));
        assert!(first.repeats(second.turn().digest(), second.author()));
        assert_eq!(first.turn().key(), second.turn().key());
    }
}
