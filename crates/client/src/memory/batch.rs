//! Many appends, in requests that the service takes.

use std::collections::VecDeque;

use serde_json::value::{RawValue, to_raw_value};
use throughline_conversation_memory::{
    AppendError, Appended, BATCH_TURNS, Cause, ClientMessageId, NewTurn,
};
use throughline_domain::TenantId;
use throughline_wire::{BatchBody, BatchReply, Code, batch_replies, paths};
use tokio::time::Instant;

use super::append::{append_prepared, appended, body};
use super::append_error;
use crate::ClientError;
use crate::call::Call;
use crate::client::Client;
use crate::retry::Failed;

type Answered = Result<Appended, AppendError>;

/// A turn as it is sent.
struct Prepared {
    place: usize,
    key: ClientMessageId,
    body: Box<RawValue>,
}

pub(super) async fn append_batch(
    client: &Client,
    tenant: &TenantId,
    turns: &[NewTurn],
) -> Vec<Answered> {
    let by = client.deadline();
    let mut answers: Vec<Option<Answered>> = Vec::with_capacity(turns.len());
    let mut ready = Vec::with_capacity(turns.len());
    for (place, turn) in turns.iter().enumerate() {
        match prepare(place, turn) {
            Ok(prepared) => {
                ready.push(prepared);
                answers.push(None);
            }
            Err(refused) => answers.push(Some(Err(refused))),
        }
    }
    let mut waiting = parts(&ready, client.0.settings.batch_bytes);
    while let Some(part) = waiting.pop_front() {
        let answered = match part {
            [one] => Ok(vec![
                append_prepared(client, tenant, &one.key, &one.body, by).await,
            ]),
            many => send(client, tenant, many, by).await,
        };
        match answered {
            Ok(answered) => {
                for (prepared, answer) in part.iter().zip(answered) {
                    answers[prepared.place] = Some(answer);
                }
            }
            // The service takes less at once than we thought: two halves, in order.
            Err(failed) if too_large(&failed) => {
                let (first, second) = part.split_at(part.len() / 2);
                waiting.push_front(second);
                waiting.push_front(first);
            }
            Err(failed) => {
                for prepared in part {
                    let error = append_error(tenant, &prepared.key, failed.clone());
                    answers[prepared.place] = Some(Err(error));
                }
            }
        }
    }
    let unanswered = |place: usize| AppendError::Timeout {
        key: turns[place].key().clone(),
        cause: Cause::text("the service gave no answer for this turn"),
    };
    let answers = answers.into_iter().enumerate();
    answers
        .map(|(place, answer)| answer.unwrap_or_else(|| Err(unanswered(place))))
        .collect()
}

fn prepare(place: usize, turn: &NewTurn) -> Result<Prepared, AppendError> {
    let body = body(turn)?;
    let body = to_raw_value(&body).expect("a body of the wire holds text, numbers and JSON");
    Ok(Prepared {
        place,
        key: turn.key().clone(),
        body,
    })
}

/// Runs of at most as many turns, and as many bytes, as one request may have; at least one turn each.
fn parts(turns: &[Prepared], bytes: usize) -> VecDeque<&[Prepared]> {
    let mut parts = VecDeque::new();
    let mut rest = turns;
    while !rest.is_empty() {
        let mut sum = 0;
        let fitting = rest.iter().take(BATCH_TURNS).take_while(|turn| {
            sum += turn.body.get().len();
            sum <= bytes
        });
        let (part, later) = rest.split_at(fitting.count().max(1));
        parts.push_back(part);
        rest = later;
    }
    parts
}

fn too_large(failed: &Failed) -> bool {
    let code = failed.error.code();
    matches!(code, Some(Code::PayloadTooLarge | Code::BatchTooLarge))
}

/// One answer a turn, or why there are none. A single turn is sent as an append of its own, so that
/// halving ends.
async fn send(
    client: &Client,
    tenant: &TenantId,
    part: &[Prepared],
    by: Instant,
) -> Result<Vec<Answered>, Failed> {
    let turns = part.iter().map(|turn| turn.body.clone()).collect();
    let path = paths::fill(paths::BATCH, tenant, &[]);
    let call = Call::idempotent(tenant, path, &BatchBody { turns });
    let answer = client.send(&call, by).await?;
    let replies = batch_replies(&answer.body).map_err(|error| answer.unreadable(error))?;
    if answer.status != 200 || replies.len() != part.len() {
        return Err(answer
            .unreadable("there are not as many results as turns")
            .into());
    }
    let both = part.iter().zip(replies);
    Ok(both
        .map(|(turn, reply)| answered(tenant, &turn.key, reply))
        .collect())
}

fn answered(tenant: &TenantId, key: &ClientMessageId, reply: BatchReply) -> Answered {
    match reply {
        BatchReply::Stored(answer) => appended(key, 200, answer),
        BatchReply::Refused(refusal) => {
            let error = ClientError::Refused(Box::new(refusal));
            Err(append_error(tenant, key, error.into()))
        }
        BatchReply::Queued | BatchReply::Unreadable => {
            let error =
                ClientError::unreadable(200, "the result is neither a stored turn nor a refusal");
            Err(append_error(tenant, key, error.into()))
        }
    }
}
