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
mod tests;
