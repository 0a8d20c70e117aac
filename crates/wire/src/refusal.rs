//! A refusal as a client reads it: the service may be newer than the client and know more codes.

use serde::{Deserialize, Deserializer};

use crate::{Code, Outcome};

/// What a [`Problem`](crate::Problem) says, read without insisting on a known code. Members that only
/// people read are left out.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Refusal {
    /// The HTTP status.
    pub status: u16,
    #[serde(rename = "code")]
    word: String,
    /// This very case, for people.
    #[serde(default)]
    pub detail: String,
    /// The field at fault.
    #[serde(default)]
    pub pointer: Option<String>,
    /// The path or query parameter at fault.
    #[serde(default)]
    pub parameter: Option<String>,
    /// What is known of the append; a word that is not known says no more than [`Outcome::Unknown`].
    #[serde(default, deserialize_with = "outcome")]
    pub outcome: Option<Outcome>,
    /// After how many seconds to repeat.
    #[serde(default)]
    pub retry_after_seconds: Option<u64>,
    /// The request this answers.
    #[serde(default)]
    pub request_id: Option<String>,
}

impl Refusal {
    /// The code; `None` for one that this release does not know.
    pub fn code(&self) -> Option<Code> {
        self.word.parse().ok()
    }

    /// The code as it was sent.
    pub fn word(&self) -> &str {
        &self.word
    }
}

fn outcome<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Outcome>, D::Error> {
    let word = Option::<String>::deserialize(deserializer)?;
    Ok(word.map(|word| match word.as_str() {
        "not_stored" => Outcome::NotStored,
        _ => Outcome::Unknown,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Problem;

    #[test]
    fn every_problem_is_read_as_it_was_meant() {
        for outcome in [None, Some(Outcome::Unknown), Some(Outcome::NotStored)] {
            for code in crate::ALL_CODES {
                let mut problem = Problem::new(*code, "do this").at("/x").retry_after(3);
                problem.outcome = outcome;
                let text = serde_json::to_string(&problem).unwrap();
                let read: Refusal = serde_json::from_str(&text).unwrap();
                assert_eq!(read.code(), Some(*code));
                assert_eq!((read.status, read.outcome), (code.status(), outcome));
                assert_eq!(read.pointer.as_deref(), Some("/x"));
                assert_eq!(read.retry_after_seconds, Some(3));
            }
        }
    }

    #[test]
    fn a_code_of_a_newer_release_is_no_code_and_never_a_failure_to_read() {
        let text = r#"{"status":409,"code":"moonstruck","outcome":"perhaps","later":1}"#;
        let read: Refusal = serde_json::from_str(text).unwrap();
        assert_eq!((read.code(), read.word()), (None, "moonstruck"));
        assert_eq!(read.outcome, Some(Outcome::Unknown));
        assert!(serde_json::from_str::<Refusal>(r#"{"status":409}"#).is_err());
    }
}
