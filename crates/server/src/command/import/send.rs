//! One batch over HTTP until every line of it has its final answer.

use std::sync::Arc;

use bytes::Bytes;
use http::{Method, StatusCode};
use serde::Deserialize;
use throughline_domain::{Ids, TenantId};
use throughline_wire::paths;

use super::backoff;
use super::lines::Checked;
use super::progress::Progress;
use super::tally::Tally;
use crate::api_client::{Answer, ApiClient};
use crate::failure::Failure;

/// Sends batches of one tenant.
pub(super) struct Sender<'a> {
    client: ApiClient,
    path: String,
    ids: Arc<dyn Ids>,
    progress: &'a Progress,
}

/// The answer's shape, read loosely: a newer service may know codes that we do not.
#[derive(Deserialize)]
struct Results {
    results: Vec<LineResult>,
}

#[derive(Deserialize)]
struct LineResult {
    status: u16,
    #[serde(default)]
    duplicate: bool,
    error: Option<Refusal>,
}

#[derive(Deserialize, Default)]
struct Refusal {
    code: String,
    #[serde(default)]
    detail: String,
}

/// What to do after one attempt.
enum Next {
    /// Send these again after a wait.
    Again {
        lines: Vec<Checked>,
        reason: String,
    },
    /// One of several lines spoils the request: send the halves on their own.
    Split(Vec<Checked>),
    Done,
}

impl<'a> Sender<'a> {
    pub(super) fn new(
        client: ApiClient,
        tenant: &TenantId,
        ids: Arc<dyn Ids>,
        progress: &'a Progress,
    ) -> Self {
        Self {
            client,
            path: paths::fill(paths::BATCH, tenant, &[]),
            ids,
            progress,
        }
    }

    /// Sends the lines and enters each into the tally. Repeats what the service could not take yet, with
    /// the same keys, so nothing is stored twice; an error means that it gave up or may not go on.
    pub(super) async fn send(&self, batch: Vec<Checked>, tally: &mut Tally) -> Result<(), Failure> {
        let mut waiting = vec![batch];
        while let Some(batch) = waiting.pop() {
            self.settle(batch, &mut waiting, tally).await?;
        }
        Ok(())
    }

    async fn settle(
        &self,
        mut lines: Vec<Checked>,
        waiting: &mut Vec<Vec<Checked>>,
        tally: &mut Tally,
    ) -> Result<(), Failure> {
        for attempt in 1.. {
            let sent = self
                .client
                .send(Method::POST, &self.path, body(&lines))
                .await;
            let asked = sent.as_ref().ok().and_then(|answer| answer.retry_after);
            let next = match sent {
                Ok(answer) => judge(&answer, lines, tally)?,
                Err(error) => Next::Again {
                    lines,
                    reason: error.to_string(),
                },
            };
            match next {
                Next::Done => return Ok(()),
                Next::Split(mut first) => {
                    let second = first.split_off(first.len() / 2);
                    waiting.extend([second, first]);
                    return Ok(());
                }
                Next::Again {
                    lines: again,
                    reason,
                } => {
                    let Some(wait) = backoff::wait(attempt, asked, self.random()) else {
                        return Err(gave_up(&again, &reason));
                    };
                    self.progress.waiting(&format!("waiting: {reason}"));
                    tokio::time::sleep(wait).await;
                    lines = again;
                }
            }
        }
        Ok(())
    }

    /// 0 to 1.
    fn random(&self) -> f64 {
        f64::from(self.ids.secret()[0]) / 255.0
    }
}

fn gave_up(lines: &[Checked], reason: &str) -> Failure {
    let line = lines.first().map_or(0, |line| line.number);
    let text = format!(
        "gave up at line {line} after {} attempts ({reason}); run the same command again when the \
         service answers, nothing is stored twice",
        backoff::ATTEMPTS
    );
    Failure::failed("service_unavailable", text)
}

/// The lines stand in the request as they stand in the file: numbers keep their digits.
fn body(lines: &[Checked]) -> Bytes {
    let texts: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
    Bytes::from(format!("{{\"turns\":[{}]}}", texts.join(",")))
}

fn judge(answer: &Answer, lines: Vec<Checked>, tally: &mut Tally) -> Result<Next, Failure> {
    if answer.status == StatusCode::OK {
        return enter(&answer.body, lines, tally);
    }
    let refusal: Refusal = serde_json::from_slice(&answer.body).unwrap_or_default();
    if repeatable(answer.status) {
        let reason = format!("{} {}", answer.status.as_u16(), refusal.code);
        return Ok(Next::Again { lines, reason });
    }
    match answer.status.as_u16() {
        // What is about the body may be about one line of it.
        400 | 413 | 422 => {
            if lines.len() > 1 {
                return Ok(Next::Split(lines));
            }
            for line in &lines {
                tally.reject(line.number, &refusal.code, &refusal.detail);
            }
            Ok(Next::Done)
        }
        status => Err(Failure::failed(
            "refused",
            format!(
                "the service refused with {status} {}: {}",
                refusal.code, refusal.detail
            ),
        )),
    }
}

fn repeatable(status: StatusCode) -> bool {
    status.is_server_error()
        || status == StatusCode::TOO_MANY_REQUESTS
        || status == StatusCode::REQUEST_TIMEOUT
}

fn enter(body: &[u8], lines: Vec<Checked>, tally: &mut Tally) -> Result<Next, Failure> {
    let results: Results = serde_json::from_slice(body)
        .ok()
        .filter(|answer: &Results| answer.results.len() == lines.len())
        .ok_or_else(|| {
            let text = "the answer is not one result per turn; is --url the address of Throughline";
            Failure::failed("unexpected_answer", text)
        })?;
    let mut again = Vec::new();
    let mut reason = String::new();
    for (line, result) in lines.into_iter().zip(results.results) {
        let status = StatusCode::from_u16(result.status).unwrap_or(StatusCode::BAD_GATEWAY);
        match result.error {
            None if status.is_success() => tally.stored(result.duplicate),
            error if repeatable(status) => {
                reason = error.map_or_else(|| status.to_string(), |refusal| refusal.code);
                again.push(line);
            }
            error => {
                let refusal = error.unwrap_or_default();
                tally.reject(line.number, &refusal.code, &refusal.detail);
            }
        }
    }
    if again.is_empty() {
        return Ok(Next::Done);
    }
    Ok(Next::Again {
        lines: again,
        reason,
    })
}

#[cfg(test)]
mod tests {
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
            std::future::pending().await
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
}
