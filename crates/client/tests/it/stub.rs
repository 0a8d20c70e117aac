//! A server that answers as it is told, one answer a request, and remembers what it was asked.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use parking_lot::Mutex;
use serde_json::{Value, json};
use throughline_client::{Client, Keys, Settings};
use throughline_domain::TenantId;
use tokio::net::TcpListener;
use tokio_util::task::TaskTracker;

/// An answer.
#[derive(Clone, Debug)]
pub(crate) enum Say {
    /// With this status, these headers and this body.
    This(u16, Vec<(&'static str, String)>, Vec<u8>),
    /// Nothing, ever.
    Nothing,
}

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) uri: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

pub(crate) struct Stub {
    pub(crate) url: String,
    heard: Arc<Heard>,
}

struct Heard {
    script: Mutex<VecDeque<Say>>,
    asked: Mutex<Vec<Asked>>,
}

/// A plain answer with JSON.
pub(crate) fn answer(status: u16, body: &Value) -> Say {
    Say::This(status, Vec::new(), body.to_string().into_bytes())
}

/// A problem of that code.
pub(crate) fn problem(status: u16, code: &str) -> Say {
    answer(
        status,
        &json!({"status": status, "code": code, "detail": "told so"}),
    )
}

/// A problem that says what is known of an append.
pub(crate) fn outcome(status: u16, code: &str, outcome: &str) -> Say {
    let body = json!({"status": status, "code": code, "outcome": outcome});
    answer(status, &body)
}

/// The same with a header.
pub(crate) fn with(say: Say, name: &'static str, value: &str) -> Say {
    match say {
        Say::This(status, mut headers, body) => {
            headers.push((name, value.to_owned()));
            Say::This(status, headers, body)
        }
        Say::Nothing => Say::Nothing,
    }
}

/// A turn that is stored under that key.
pub(crate) fn stored(key: &str) -> Say {
    answer(
        201,
        &json!({
            "message_id": "01HF7YAT000000000000000004", "user_id": "01HF7YAT000000000000000003",
            "seq": 1, "duplicate": false, "redaction_state": "clean", "client_message_id": key,
        }),
    )
}

impl Stub {
    /// Says this, in order; then the last of it again and again.
    pub(crate) async fn saying(script: impl IntoIterator<Item = Say>) -> Self {
        let heard = Arc::new(Heard {
            script: Mutex::new(script.into_iter().collect()),
            asked: Mutex::default(),
        });
        let router = Router::new().fallback(say).with_state(heard.clone());
        let listener = TcpListener::bind("127.0.0.1:0")
            .await
            .expect("loopback has a free port");
        let url = format!(
            "http://{}",
            listener
                .local_addr()
                .expect("a bound socket has an address")
        );
        TaskTracker::new().spawn(async move { axum::serve(listener, router).await });
        Self { url, heard }
    }

    /// What was asked so far.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.heard.asked.lock().clone()
    }

    /// A client with a key of tenant `acme` that is quick to repeat.
    pub(crate) fn client(&self) -> Client {
        self.client_with(quick())
    }

    pub(crate) fn client_with(&self, settings: Settings) -> Client {
        let keys = Keys::one("a-key").expect("a usable key");
        let client = Client::builder(&self.url, keys).settings(settings);
        client.build().expect("a usable setup")
    }
}

/// Limits for tests that repeat.
pub(crate) fn quick() -> Settings {
    Settings {
        deadline: Duration::from_secs(5),
        first_wait: Duration::from_millis(1),
        longest_wait: Duration::from_millis(5),
        ..Settings::default()
    }
}

pub(crate) fn acme() -> TenantId {
    TenantId::parse("acme").expect("well-formed")
}

async fn say(State(heard): State<Arc<Heard>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, usize::MAX)
        .await
        .expect("a whole body")
        .to_vec();
    heard.asked.lock().push(Asked {
        uri: parts.uri.to_string(),
        headers: parts.headers,
        body,
    });
    let next = {
        let mut script = heard.script.lock();
        let last = script.len() == 1;
        if last {
            script.front().cloned()
        } else {
            script.pop_front()
        }
    };
    let Some(Say::This(status, headers, body)) = next else {
        return std::future::pending().await;
    };
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = StatusCode::from_u16(status).expect("a status");
    for (name, value) in headers {
        response
            .headers_mut()
            .append(name, value.parse().expect("well-formed"));
    }
    response
}
