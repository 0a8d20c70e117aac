//! What a refusal says: `application/problem+json` (RFC 9457) with a stable code.

use std::ops::{Deref, DerefMut};

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Code;

/// What is known of an append that was not answered with a success.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It may be stored, now or later.
    Unknown,
    /// It is not stored.
    NotStored,
}

/// One refusal: its [`Members`], behind one pointer so that a `Result` stays small.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Problem(Box<Members>);

/// The members of a problem. Optional ones are absent when they have nothing to say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = Problem)]
pub struct Members {
    /// A URN of the code.
    #[serde(rename = "type")]
    pub kind: String,
    /// The code in a few words.
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// What clients branch on.
    #[schema(value_type = String)]
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
        Self(Box::new(Members {
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
        }))
    }

    /// Names the field at fault.
    #[must_use]
    pub fn at(mut self, pointer: impl Into<String>) -> Self {
        self.0.pointer = Some(pointer.into());
        self
    }

    /// Names the path or query parameter at fault.
    #[must_use]
    pub fn in_parameter(mut self, name: impl Into<String>) -> Self {
        self.0.parameter = Some(name.into());
        self
    }

    /// Names the turn.
    #[must_use]
    pub fn about(mut self, client_message_id: impl Into<String>) -> Self {
        self.0.client_message_id = Some(client_message_id.into());
        self
    }

    /// Says what is known of the append.
    #[must_use]
    pub fn with_outcome(mut self, outcome: Outcome) -> Self {
        self.0.outcome = Some(outcome);
        self
    }

    /// Says when to repeat.
    #[must_use]
    pub fn retry_after(mut self, seconds: u64) -> Self {
        self.0.retry_after_seconds = Some(seconds);
        self
    }
}

impl Deref for Problem {
    type Target = Members;
    fn deref(&self) -> &Members {
        &self.0
    }
}

impl DerefMut for Problem {
    fn deref_mut(&mut self) -> &mut Members {
        &mut self.0
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
