//! What a refusal says: `application/problem+json` (RFC 9457) with a stable code.

use serde::{Deserialize, Serialize};

use crate::Code;

/// What is known of an append that was not answered with a success.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It may be stored, now or later.
    Unknown,
    /// It is not stored.
    NotStored,
}

/// One refusal. Optional members are absent when they have nothing to say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// A URN of the code.
    #[serde(rename = "type")]
    pub kind: String,
    /// The code in a few words.
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// What clients branch on.
    pub code: Code,
    /// This very case, for people.
    pub detail: String,
    /// The field at fault, a JSON pointer into the body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pointer: Option<String>,
    /// The path or query parameter at fault.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameter: Option<String>,
    /// The key of the turn this is about, the server's own when the caller gave none (R-089).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_message_id: Option<String>,
    /// What is known of the append.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// The revision in force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current_revision: Option<u64>,
    /// After how many seconds to repeat; also the header `Retry-After`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_seconds: Option<u64>,
    /// The request this answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

impl Problem {
    /// A problem of this code; `detail` is lower-case and says what to do.
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        Self {
            kind: format!("urn:throughline:problem:{code}"),
            title: code.title().to_owned(),
            status: code.status(),
            code,
            detail: detail.into(),
            pointer: None,
            parameter: None,
            client_message_id: None,
            outcome: None,
            current_revision: None,
            retry_after_seconds: None,
            request_id: None,
        }
    }

    /// Names the field at fault.
    #[must_use]
    pub fn at(mut self, pointer: impl Into<String>) -> Self {
        self.pointer = Some(pointer.into());
        self
    }

    /// Names the path or query parameter at fault.
    #[must_use]
    pub fn in_parameter(mut self, name: impl Into<String>) -> Self {
        self.parameter = Some(name.into());
        self
    }

    /// Names the turn.
    #[must_use]
    pub fn about(mut self, client_message_id: impl Into<String>) -> Self {
        self.client_message_id = Some(client_message_id.into());
        self
    }

    /// Says what is known of the append.
    #[must_use]
    pub fn with_outcome(mut self, outcome: Outcome) -> Self {
        self.outcome = Some(outcome);
        self
    }

    /// Says when to repeat.
    #[must_use]
    pub fn retry_after(mut self, seconds: u64) -> Self {
        self.retry_after_seconds = Some(seconds);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_members_stay_out_of_the_body() {
        let body = serde_json::to_value(Problem::new(Code::NotFound, "there is no such route"));
        assert_eq!(
            body.unwrap(),
            serde_json::json!({
                "type": "urn:throughline:problem:not_found", "title": "There is nothing here",
                "status": 404, "code": "not_found", "detail": "there is no such route",
            })
        );
    }

    #[test]
    fn a_client_reads_what_the_server_wrote() {
        let problem = Problem::new(Code::Unavailable, "the store did not answer")
            .about("k")
            .with_outcome(Outcome::Unknown)
            .retry_after(1);
        let text = serde_json::to_string(&problem).unwrap();
        assert!(text.contains(r#""outcome":"unknown""#), "{text}");
        assert_eq!(serde_json::from_str::<Problem>(&text).unwrap(), problem);
    }
}
