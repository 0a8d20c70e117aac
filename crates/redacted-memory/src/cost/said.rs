//! The turns that are appended.

use std::io::BufRead;

use serde::Deserialize;
use throughline_conversation_memory::{
    ChannelKind, ChannelScope, ClientMessageId, NewTurn, TurnDraft,
};
use throughline_domain::UserId;

use super::Fault;

/// What two sides said. Other fields of a line are left alone.
#[derive(Deserialize)]
pub struct Said {
    user_message: String,
    assistant_answer: String,
}

impl Said {
    /// Bytes of both texts.
    pub fn bytes(&self) -> usize {
        self.user_message.len() + self.assistant_answer.len()
    }

    pub(super) fn turn(&self, user: UserId, key: &str) -> Result<NewTurn, Fault> {
        let draft = TurnDraft {
            key: ClientMessageId::parse(key)?,
            user,
            scope: ChannelScope::new(ChannelKind::parse("web")?, "bench")?,
            canvas: None,
            said_at: None,
            user_message: self.user_message.clone(),
            assistant_answer: self.assistant_answer.clone(),
            tool_calls: None,
            metadata: None,
        };
        Ok(draft.validate()?)
    }
}

/// One turn a line, as JSON.
pub fn read(lines: impl BufRead) -> Result<Vec<Said>, Fault> {
    let mut said = Vec::new();
    for line in lines.lines() {
        said.push(serde_json::from_str(&line?)?);
    }
    if said.is_empty() {
        return Err("the file has no line".into());
    }
    Ok(said)
}

/// Turns of nothing but what is looked for, a different value in each.
pub fn dense(turns: usize) -> Vec<Said> {
    let said = |n: usize| Said {
        user_message: format!(
            "write jo{n}@example.com or ring +44 20 7946 0{:03}, card 4111 1111 1111 1111",
            n % 1000
        ),
        assistant_answer: format!(
            "noted: IBAN DE89 3704 0044 0532 0130 00, ssn 536-90-4399, host 192.0.2.{}, \
             jo{n}@example.org",
            n % 256
        ),
    };
    (0..turns).map(said).collect()
}
