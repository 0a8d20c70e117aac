//! What an append says when the store does not.

use std::sync::Arc;

use serde_json::json;
use throughline_api::Settings;
use throughline_conversation_memory::{AppendError, Cause, NewTurn, RejectReason};
use throughline_domain::TurnId;

use crate::doubles::{Fault, FaultyMemory};
use crate::service::{Answer, Service, append_body, service_with};

async fn failing(error: fn(&NewTurn) -> AppendError) -> Service {
    service_with(Settings::default(), |c| {
        c.memory = Arc::new(FaultyMemory(Fault::Append(error)));
    })
    .await
}

async fn append(error: fn(&NewTurn) -> AppendError) -> Answer {
    failing(error).await.append(&append_body("k", "hi")).await
}

fn timeout(turn: &NewTurn) -> AppendError {
    AppendError::Timeout {
        key: turn.key().clone(),
        cause: Cause::text("statement timeout"),
    }
}

fn transport(turn: &NewTurn) -> AppendError {
    AppendError::Transport {
        key: turn.key().clone(),
        cause: Cause::text("connection refused"),
    }
}

fn committed(turn: &NewTurn) -> AppendError {
    AppendError::Committed {
        key: turn.key().clone(),
        turn_id: TurnId::from_u128(7),
        cause: Cause::text("connection reset"),
    }
}

fn gone(turn: &NewTurn) -> AppendError {
    AppendError::Rejected {
        key: turn.key().clone(),
        reason: RejectReason::Gone,
    }
}

#[tokio::test]
async fn an_outcome_that_is_not_known_says_so() {
    for (error, outcome) in [
        (timeout as fn(&NewTurn) -> AppendError, "unknown"),
        (transport, "not_stored"),
    ] {
        let answer = append(error).await;
        answer.assert_problem(503, "unavailable");
        assert_eq!(answer.header("retry-after"), "1");
        let body = answer.json();
        assert_eq!(
            (&body["outcome"], &body["client_message_id"]),
            (&json!(outcome), &json!("k"))
        );
    }
}

#[tokio::test]
async fn a_turn_that_was_deleted_is_gone() {
    append(gone).await.assert_problem(410, "gone");
}

#[tokio::test]
async fn a_committed_turn_is_a_success_with_a_warning() {
    let answer = append(committed).await;
    answer.assert_status(200);
    let body = answer.json();
    assert_eq!(body["message_id"], json!(TurnId::from_u128(7).to_string()));
    assert_eq!(body["duplicate"], false);
    assert_eq!(body["warnings"].as_array().unwrap().len(), 1);
    assert!(body["user_id"].is_string());
}

#[tokio::test]
async fn a_minted_key_is_told_even_in_a_refusal() {
    let mut body = append_body("k", "hi");
    body["client_message_id"] = json!(null);
    let answer = failing(timeout).await.append(&body).await;
    assert!(
        answer.json()["client_message_id"]
            .as_str()
            .unwrap()
            .starts_with("m:")
    );
}

#[tokio::test]
async fn a_batch_says_it_of_each_turn() {
    let service = failing(timeout).await;
    let batch = json!({"turns": [append_body("a", "hi"), append_body("b", "hi")]});
    let answer = service.post("/v1/tenants/acme/turns/batch", &batch).await;
    answer.assert_status(200);
    for (result, key) in answer.json()["results"]
        .as_array()
        .unwrap()
        .iter()
        .zip(["a", "b"])
    {
        assert_eq!(result["status"], 503);
        assert_eq!(result["error"]["outcome"], "unknown");
        assert_eq!(result["error"]["client_message_id"], key);
    }
}
