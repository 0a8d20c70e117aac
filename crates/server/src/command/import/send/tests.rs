//! Batches sent to a service that misbehaves.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use secrecy::SecretString;
use serde_json::{Value, json};
use throughline_domain::SeededIds;

use super::*;
use crate::server::StopSignals;

/// A service that stores by key, and misbehaves as it is told.
#[derive(Default)]
struct Fake {
    keys: BTreeSet<String>,
    requests: u32,
    refusals: Vec<(u16, &'static str)>,
    busy_once: BTreeMap<String, bool>,
}

async fn batch(State(fake): State<Arc<Mutex<Fake>>>, body: Bytes) -> Response {
    let mut fake = fake.lock().unwrap();
    fake.requests += 1;
    if let Some((status, code)) = fake.refusals.pop() {
        let status = StatusCode::from_u16(status).unwrap();
        let body = json!({"code": code, "detail": "told to"}).to_string();
        return (status, [("retry-after", "0")], body).into_response();
    }
    let body: Value = serde_json::from_slice(&body).unwrap();
    let turns = body["turns"].as_array().unwrap();
    if turns.iter().any(|turn| turn["poison"] == true) {
        let body = json!({"code": "invalid_json", "detail": "poison"}).to_string();
        return (StatusCode::BAD_REQUEST, body).into_response();
    }
    let results: Vec<Value> = turns.iter().map(|turn| fake.store(turn)).collect();
    json!({"results": results}).to_string().into_response()
}

impl Fake {
    fn store(&mut self, turn: &Value) -> Value {
        let key = turn["client_message_id"].as_str().unwrap().to_owned();
        if self.busy_once.insert(key.clone(), true) == Some(false) {
            return json!({"status": 503, "error": {"code": "unavailable", "detail": ""}});
        }
        if turn["old"] == true {
            return json!({"status": 422, "error": {"code": "expired", "detail": "too old"}});
        }
        let duplicate = !self.keys.insert(key);
        json!({"status": if duplicate { 200 } else { 201 }, "duplicate": duplicate})
    }
}

struct Never;

impl StopSignals for Never {
    async fn next(&mut self) {
        std::future::pending::<()>().await;
    }
}

struct Run {
    summary: String,
    rejects: String,
    requests: u32,
    result: Result<(), Failure>,
}

async fn run(fake: Fake, lines: &[&str]) -> Run {
    let fake = Arc::new(Mutex::new(fake));
    let router = Router::new()
        .route("/v1/tenants/acme/turns/batch", post(batch))
        .with_state(Arc::clone(&fake));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let limits = crate::server::Limits {
        connections: 8,
        header_timeout: std::time::Duration::from_secs(5),
        send_timeout: std::time::Duration::from_secs(5),
        drain_delay: std::time::Duration::ZERO,
        deadline: std::time::Duration::from_secs(5),
    };
    let serving = crate::server::serve(listener, router, limits, Never, || {});
    let rejects = tempfile::NamedTempFile::new().unwrap();
    let mut tally = Tally::new(Some(rejects.path())).unwrap();
    let progress = Progress::start(None);
    let client = ApiClient::new(&url, &SecretString::from("key")).unwrap();
    let tenant = TenantId::parse("acme").unwrap();
    let ids = Arc::new(SeededIds::from_seed(0));
    let sender = Sender::new(client, &tenant, ids, &progress);
    let checked = lines.iter().zip(1..).map(|(text, number)| {
        let text = (*text).to_owned();
        Checked { number, text }
    });
    let result = tokio::select! {
        result = sender.send(checked.collect(), &mut tally) => result,
        _ = serving => unreachable!("no signal is ever given"),
    };
    tally.close().unwrap();
    let requests = fake.lock().unwrap().requests;
    Run {
        summary: tally.summary(),
        rejects: std::fs::read_to_string(rejects.path()).unwrap(),
        requests,
        result,
    }
}

const A: &str = r#"{"client_message_id":"a"}"#;
const B: &str = r#"{"client_message_id":"b"}"#;
const OLD: &str = r#"{"client_message_id":"o","old":true}"#;
const POISON: &str = r#"{"client_message_id":"p","poison":true}"#;

#[tokio::test]
async fn a_refused_line_is_written_down_and_costs_only_itself() {
    let run = run(Fake::default(), &[A, OLD, A, B]).await;
    assert!(run.result.is_ok());
    assert_eq!(run.summary, "2 stored, 1 duplicates, 1 rejected");
    assert_eq!(
        run.rejects,
        "{\"code\":\"expired\",\"detail\":\"too old\",\"line\":2}\n"
    );
    assert_eq!(run.requests, 1);
}

#[tokio::test]
async fn a_line_that_spoils_its_batch_is_found_and_the_others_are_stored() {
    let run = run(Fake::default(), &[A, POISON, B]).await;
    assert!(run.result.is_ok());
    assert_eq!(run.summary, "2 stored, 0 duplicates, 1 rejected");
    assert_eq!(
        run.rejects,
        "{\"code\":\"invalid_json\",\"detail\":\"poison\",\"line\":2}\n"
    );
}

#[tokio::test]
async fn what_the_service_cannot_take_yet_is_sent_again() {
    let fake = Fake {
        refusals: vec![(503, "overloaded"), (429, "rate_limited")],
        busy_once: [("b".to_owned(), false)].into(),
        ..Fake::default()
    };
    let run = run(fake, &[A, B]).await;
    assert!(run.result.is_ok());
    assert_eq!(run.summary, "2 stored, 0 duplicates, 0 rejected");
    assert_eq!(
        run.requests, 4,
        "two refusals, the batch, the line that was busy"
    );
}

#[tokio::test]
async fn a_refused_key_ends_the_import_at_once() {
    let fake = Fake {
        refusals: vec![(403, "tenant_mismatch")],
        ..Fake::default()
    };
    let run = run(fake, &[A]).await;
    let failure = run.result.unwrap_err().to_string();
    assert_eq!(
        failure,
        "refused: the service refused with 403 tenant_mismatch: told to"
    );
    assert_eq!(
        (run.requests, run.summary.as_str()),
        (1, "0 stored, 0 duplicates, 0 rejected")
    );
}
