//! Many appends in one call: one refused turn costs only itself.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use throughline_conversation_memory::BATCH_TURNS;
use throughline_domain::{TurnId, UserId};
use utoipa::ToSchema;

use crate::{AppendAnswer, AppendBody, Code, Place, Problem, QueuedAnswer, Refusal, from_json};

/// `POST /v1/tenants/{tenant}/turns/batch`. Each turn is decoded on its own, so that one of the wrong
/// shape does not spoil its neighbours.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct BatchBody {
    /// Up to 500 append bodies.
    #[schema(value_type = Vec<AppendBody>)]
    pub turns: Vec<Box<RawValue>>,
}

impl BatchBody {
    /// Each turn's body or what is wrong with it, in order; a refusal of the whole when there are too
    /// many.
    pub fn decode(&self) -> Result<Vec<Result<AppendBody, Problem>>, Problem> {
        if self.turns.len() > BATCH_TURNS {
            let detail = format!(
                "the batch has {} turns; send at most {BATCH_TURNS} in one",
                self.turns.len()
            );
            return Err(Place::Body("/turns").problem(Code::BatchTooLarge, detail));
        }
        let decode = |turn: &RawValue| from_json(turn.get().as_bytes());
        Ok(self.turns.iter().map(|turn| decode(turn)).collect())
    }
}

/// What became of one turn of a batch: the fields of [`AppendAnswer`], or `error`. The fields stand
/// here one by one because serde's `flatten` cannot carry numbers that keep their digits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BatchResult {
    /// The status a call of its own would have had.
    pub status: u16,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    message_id: Option<TurnId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    user_id: Option<UserId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seq: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    duplicate: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    redaction_state: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    client_message_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    queued: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    retry_safe: Option<bool>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<crate::Members>)]
    error: Option<Problem>,
}

impl BatchResult {
    /// The success or the refusal; `None` when the turn is queued, or the server sent neither.
    pub fn into_result(self) -> Option<Result<AppendAnswer, Problem>> {
        if let Some(problem) = self.error {
            return Some(Err(problem));
        }
        Some(Ok(AppendAnswer {
            message_id: self.message_id?,
            user_id: self.user_id?,
            seq: self.seq,
            duplicate: self.duplicate?,
            redaction_state: self.redaction_state,
            client_message_id: self.client_message_id?,
            retry_safe: self.retry_safe,
            warnings: self.warnings,
            erasure_epoch: None,
        }))
    }

    /// The turn is queued: the status is 202 and there is no message id yet.
    pub fn queued(answer: QueuedAnswer) -> Self {
        Self {
            status: 202,
            client_message_id: Some(answer.client_message_id),
            queued: Some(answer.queued),
            retry_safe: answer.retry_safe,
            ..Self::empty()
        }
    }

    /// Whether the turn is queued and not stored yet.
    pub fn is_queued(&self) -> bool {
        self.queued == Some(true)
    }

    fn empty() -> Self {
        Self {
            status: 0,
            message_id: None,
            user_id: None,
            seq: None,
            duplicate: None,
            redaction_state: None,
            client_message_id: None,
            queued: None,
            retry_safe: None,
            warnings: Vec::new(),
            error: None,
        }
    }

    fn stored(answer: AppendAnswer) -> Self {
        Self {
            status: answer.status(),
            message_id: Some(answer.message_id),
            user_id: Some(answer.user_id),
            seq: answer.seq,
            duplicate: Some(answer.duplicate),
            redaction_state: answer.redaction_state,
            client_message_id: Some(answer.client_message_id),
            queued: None,
            retry_safe: answer.retry_safe,
            warnings: answer.warnings,
            error: None,
        }
    }

    fn refused(problem: Problem) -> Self {
        Self {
            status: problem.status,
            error: Some(problem),
            ..Self::empty()
        }
    }
}

impl From<Result<AppendAnswer, Problem>> for BatchResult {
    fn from(result: Result<AppendAnswer, Problem>) -> Self {
        result.map_or_else(Self::refused, Self::stored)
    }
}

/// One result per turn, in the order they were sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BatchAnswer {
    /// The results.
    pub results: Vec<BatchResult>,
    /// The tenant's erasure epoch: drop what is cached when it jumps. Absent when it could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erasure_epoch: Option<u64>,
}

/// One result of a batch as a client reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BatchReply {
    /// The turn is stored.
    Stored(AppendAnswer),
    /// The turn is queued.
    Queued,
    /// The turn is not stored, or nobody knows.
    Refused(Refusal),
    /// The result says nothing that this release understands.
    Unreadable,
}

/// Reads the body of a [`BatchAnswer`], each result on its own, so that one in words of a newer release
/// does not spoil its neighbours.
pub fn batch_replies(body: &[u8]) -> Result<Vec<BatchReply>, serde_json::Error> {
    #[derive(Deserialize)]
    struct Answer {
        results: Vec<Box<RawValue>>,
    }
    let answer: Answer = serde_json::from_slice(body)?;
    Ok(answer.results.iter().map(|one| reply(one.get())).collect())
}

fn reply(result: &str) -> BatchReply {
    #[derive(Deserialize)]
    struct Refused {
        error: Refusal,
    }
    if let Ok(refused) = serde_json::from_str::<Refused>(result) {
        return BatchReply::Refused(refused.error);
    }
    let Ok(result) = serde_json::from_str::<BatchResult>(result) else {
        return BatchReply::Unreadable;
    };
    if result.is_queued() {
        return BatchReply::Queued;
    }
    match result.into_result() {
        Some(Ok(answer)) => BatchReply::Stored(answer),
        Some(Err(_)) | None => BatchReply::Unreadable,
    }
}

#[cfg(test)]
mod tests {
    use throughline_conversation_memory::{
        AppendOutcome, Appended, ClientMessageId, RedactionState,
    };

    use super::*;
    use crate::KeySource;

    #[test]
    fn a_turn_of_the_wrong_shape_costs_only_itself() {
        let body: BatchBody = from_json(
            br#"{"turns":[{"channel_kind":"c","channel_scope":"s","turn":{}},7,{"source":1},{"turn":"\ud800"}]}"#,
        )
        .unwrap();
        let codes: Vec<Option<Code>> = body
            .decode()
            .unwrap()
            .into_iter()
            .map(|turn| turn.err().map(|problem| problem.code))
            .collect();
        let expected = [
            None,
            Some(Code::InvalidRequest),
            Some(Code::ReservedField),
            Some(Code::InvalidText),
        ];
        assert_eq!(codes, expected);
    }

    #[test]
    fn five_hundred_turns_are_a_batch_and_one_more_is_not() {
        let body = |n: usize| format!(r#"{{"turns":[{}]}}"#, vec!["{}"; n].join(","));
        let decode = |n| from_json::<BatchBody>(body(n).as_bytes()).unwrap().decode();
        assert_eq!(decode(500).unwrap().len(), 500);
        assert_eq!(decode(501).unwrap_err().code, Code::BatchTooLarge);
    }

    #[test]
    fn a_client_reads_what_the_server_wrote() {
        let appended = Appended {
            outcome: AppendOutcome::Stored,
            turn_id: TurnId::from_u128(1),
            user_id: UserId::from_u128(2),
            seq: 3,
            redaction_state: RedactionState::Clean,
        };
        let key = ClientMessageId::parse("k").unwrap();
        let stored = AppendAnswer::new(&key, KeySource::Minted, &appended);
        let answer = BatchAnswer {
            results: vec![
                Ok(stored.clone()).into(),
                Err(Problem::new(Code::Gone, "the turn was deleted")).into(),
            ],
            erasure_epoch: Some(7),
        };
        let text = serde_json::to_string(&answer).unwrap();
        assert!(text.contains(r#""status":201,"message_id""#), "{text}");
        let read: BatchAnswer = serde_json::from_str(&text).unwrap();
        assert_eq!(read, answer);
        assert_eq!(
            read.results[0].clone().into_result(),
            Some(Ok(stored.clone()))
        );
        let replies = batch_replies(text.as_bytes()).unwrap();
        assert_eq!(replies[0], BatchReply::Stored(stored));
        let BatchReply::Refused(refusal) = &replies[1] else {
            panic!("{replies:?}");
        };
        assert_eq!(refusal.code(), Some(Code::Gone));
    }

    #[test]
    fn a_result_in_words_of_a_newer_release_costs_only_itself() {
        let replies = batch_replies(
            br#"{"results":[
              {"status":409,"error":{"status":409,"code":"moonstruck"}},
              {"status":201,"message_id":7},
              {"status":299},
              {"status":202,"client_message_id":"k","queued":true},
              {"status":200,"message_id":"01HF7YAT000000000000000004",
               "user_id":"01HF7YAT000000000000000003","duplicate":true,"client_message_id":"k"}]}"#,
        )
        .unwrap();
        assert!(
            matches!(&replies[0], BatchReply::Refused(refusal) if refusal.code().is_none()),
            "{replies:?}"
        );
        assert_eq!(replies[1], BatchReply::Unreadable);
        assert_eq!(replies[2], BatchReply::Unreadable);
        assert_eq!(replies[3], BatchReply::Queued);
        assert!(matches!(&replies[4], BatchReply::Stored(answer) if answer.duplicate));
        assert!(batch_replies(b"{}").is_err());
    }
}
