//! One call, and what is certain after it.

use std::time::Duration;

use http::Method;
use hyper_util::client::legacy::Error;
use serde_json::Value;
use throughline_tests::{Answer, Client};

/// Longer than a statement may run and a connection is waited for, so that the server's own word comes
/// first while it can give one.
const PATIENCE: Duration = Duration::from_secs(9);

/// What came back.
pub(crate) enum Reply {
    /// A status and a body.
    Answer(u16, Value),
    /// Nobody was there to take it.
    NotSent(String),
    /// It was sent and nothing came.
    Nothing(String),
}

impl Reply {
    /// A success's body.
    pub(crate) fn success(&self) -> Option<&Value> {
        match self {
            Self::Answer(status, body) if (200..300).contains(status) => Some(body),
            _ => None,
        }
    }

    /// A problem's code.
    pub(crate) fn code(&self) -> Option<&str> {
        match self {
            Self::Answer(_, body) => body["code"].as_str(),
            _ => None,
        }
    }

    /// Whether it says to come again later.
    pub(crate) fn later(&self) -> bool {
        match self {
            Self::Answer(..) => matches!(
                self.code(),
                Some("unavailable" | "overloaded" | "rate_limited")
            ),
            Self::NotSent(_) | Self::Nothing(_) => true,
        }
    }

    /// For a report.
    pub(crate) fn shown(&self) -> String {
        match self {
            Self::Answer(status, body) => format!("{status} {body}"),
            Self::NotSent(why) => format!("not sent: {why}"),
            Self::Nothing(why) => format!("no answer: {why}"),
        }
    }
}

/// Calls and waits, but not for ever.
pub(crate) async fn call(
    client: &Client,
    method: Method,
    path: &str,
    body: Option<&Value>,
) -> Reply {
    let exchange = client.call(method, path, body);
    match tokio::time::timeout(PATIENCE, exchange).await {
        Ok(Ok(Answer { status, body, .. })) => Reply::Answer(status.as_u16(), body),
        Ok(Err(error)) => match error.downcast_ref::<Error>() {
            Some(error) if error.is_connect() => Reply::NotSent(error.to_string()),
            _ => Reply::Nothing(error.to_string()),
        },
        Err(_) => Reply::Nothing("it took too long".to_owned()),
    }
}
