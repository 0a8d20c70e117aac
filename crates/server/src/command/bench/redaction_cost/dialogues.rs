//! The turns that are appended.

use std::io::BufRead;

use serde::Deserialize;
use throughline_conversation_memory::{
    ChannelKind, ChannelScope, ClientMessageId, NewTurn, TurnDraft,
};
use throughline_domain::UserId;

use crate::failure::Failure;

/// What two sides said. Other fields of a line are left alone.
#[derive(Deserialize)]
pub(super) struct Said {
    user_message: String,
    assistant_answer: String,
}

impl Said {
    pub(super) fn bytes(&self) -> usize {
        self.user_message.len() + self.assistant_answer.len()
    }

    pub(super) fn turn(&self, user: UserId, key: &str) -> Result<NewTurn, Failure> {
        let unusable = |error: &(dyn std::error::Error + 'static)| {
            Failure::caused("invalid_line", "a turn cannot be stored", error)
        };
        let kind = ChannelKind::parse("web").map_err(|error| unusable(&error))?;
        let draft = TurnDraft {
            key: ClientMessageId::parse(key).map_err(|error| unusable(&error))?,
            user,
            scope: ChannelScope::new(kind, "bench").map_err(|error| unusable(&error))?,
            canvas: None,
            said_at: None,
            user_message: self.user_message.clone(),
            assistant_answer: self.assistant_answer.clone(),
            tool_calls: None,
            metadata: None,
        };
        draft.validate().map_err(|error| unusable(&error))
    }
}

/// One turn a line.
pub(super) fn read(lines: impl BufRead) -> Result<Vec<Said>, Failure> {
    let mut said = Vec::new();
    for (index, line) in lines.lines().enumerate() {
        let line = line.map_err(|error| {
            Failure::caused("unreadable_input", "the file cannot be read", &error)
        })?;
        let turn = serde_json::from_str(&line).map_err(|error| {
            Failure::caused(
                "invalid_line",
                &format!("line {} is wrong", index + 1),
                &error,
            )
        })?;
        said.push(turn);
    }
    if said.is_empty() {
        return Err(Failure::failed("invalid_line", "the file has no line"));
    }
    Ok(said)
}

/// Turns of nothing but what is looked for, a different value in each.
pub(super) fn dense(turns: usize) -> Vec<Said> {
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
