//! What an append says of every answer: stored, committed, rejected, timeout, transport.

use serde_json::json;
use throughline_client::ClientError;
use throughline_conversation_memory::contract::turn;
use throughline_conversation_memory::{
    AppendError, AppendOutcome, ConversationMemory, RecentQuery, RejectReason,
};
use throughline_domain::UserId;
use throughline_platform_identity::{ChannelUser, PlatformIdentity, PlatformKind};
use throughline_wire::{ALL_CODES, Code};

use crate::stub::{Say, Stub, acme, answer, outcome, problem, stored};

fn mina() -> UserId {
    UserId::from_u128(3)
}

/// One append, answered like this.
async fn append(say: Say) -> Result<AppendOutcome, AppendError> {
    let stub = Stub::saying([say]).await;
    let settings = throughline_client::Settings {
        retries: 0,
        ..crate::stub::quick()
    };
    let client = stub.client_with(settings);
    let appended = client.append(&acme(), turn(mina(), "k").build()).await;
    appended.map(|appended| appended.outcome)
}

fn told(answer: &Result<AppendOutcome, AppendError>) -> &'static str {
    match answer {
        Ok(AppendOutcome::Stored) => "stored",
        Ok(AppendOutcome::Duplicate) => "duplicate",
        Err(AppendError::Committed { .. }) => "committed",
        Err(AppendError::Rejected { .. }) => "rejected",
        Err(AppendError::Timeout { .. }) => "timeout",
        Err(AppendError::Transport { .. }) => "transport",
    }
}

#[tokio::test]
async fn each_code_of_the_service_is_one_kind_of_failure() {
    for code in ALL_CODES {
        let expected = match code {
            Code::UnknownTenant
            | Code::UnknownUser
            | Code::IdempotencyMismatch
            | Code::Gone
            | Code::Expired
            | Code::InvalidJson
            | Code::PayloadTooLarge
            | Code::UnsupportedMediaType
            | Code::BatchTooLarge
            | Code::EmptyTurn
            | Code::InvalidAuthor
            | Code::InvalidParameter
            | Code::InvalidRequest
            | Code::InvalidText
            | Code::ReservedField
            | Code::Unsupported => "rejected",
            Code::Unavailable | Code::Internal => "timeout",
            _ => "transport",
        };
        let answer = append(problem(code.status(), code.as_str())).await;
        assert_eq!(told(&answer), expected, "{code}");
        let error = answer.unwrap_err();
        assert_eq!(error.key().as_str(), "k");
        if expected != "rejected" {
            let cause = ClientError::behind(&error).expect("a client's error");
            assert_eq!(cause.code(), Some(*code));
        }
    }
}

#[tokio::test]
async fn a_reason_for_good_is_told_as_the_store_would() {
    for (code, expected) in [
        (Code::UnknownTenant, RejectReason::UnknownTenant(acme())),
        (Code::UnknownUser, RejectReason::UnknownUser),
        (Code::IdempotencyMismatch, RejectReason::IdempotencyMismatch),
        (Code::Gone, RejectReason::Gone),
        (Code::Expired, RejectReason::Expired),
        (Code::InvalidText, RejectReason::Unstorable),
    ] {
        let answer = append(problem(code.status(), code.as_str())).await;
        let Err(AppendError::Rejected { reason, .. }) = answer else {
            panic!("{code}: {answer:?}");
        };
        assert_eq!(reason, expected);
    }
}

#[tokio::test]
async fn what_the_service_knows_of_the_outcome_decides() {
    for (code, status) in [("unavailable", 503), ("internal", 500)] {
        let not_stored = append(outcome(status, code, "not_stored")).await;
        assert_eq!(told(&not_stored), "transport", "{code}");
        let unknown = append(outcome(status, code, "unknown")).await;
        assert_eq!(told(&unknown), "timeout", "{code}");
    }
    let perhaps = append(outcome(503, "unavailable", "perhaps")).await;
    assert_eq!(told(&perhaps), "timeout");
}

#[tokio::test]
async fn a_code_of_a_newer_release_is_never_a_success() {
    for (status, expected) in [
        (400, "rejected"),
        (409, "rejected"),
        (422, "rejected"),
        (403, "transport"),
        (429, "transport"),
        (500, "timeout"),
        (503, "timeout"),
    ] {
        let answer = append(problem(status, "moonstruck")).await;
        assert_eq!(told(&answer), expected, "{status}");
    }
    // A body that is a problem does not make a success of a success.
    assert_eq!(told(&append(problem(200, "moonstruck")).await), "timeout");
}

#[tokio::test]
async fn an_answer_that_is_not_the_services_own_leaves_it_open() {
    for status in [301, 400, 403, 404, 413, 422, 500, 502, 503, 504] {
        let page = Say::This(status, Vec::new(), b"<html>not here</html>".to_vec());
        let answer = append(page).await;
        assert_eq!(told(&answer), "timeout", "{status}");
        let error = answer.unwrap_err();
        let cause = ClientError::behind(&error);
        assert!(
            matches!(cause, Some(ClientError::Foreign { status: s }) if *s == status),
            "{cause:?}"
        );
    }
    // The body says another status than the answer has: somebody in between made it up.
    let other = answer(503, &json!({"status": 422, "code": "invalid_text"}));
    assert_eq!(told(&append(other).await), "timeout");
}

#[tokio::test]
async fn a_success_that_cannot_be_read_is_no_success() {
    let stored_as = |status, body: &str| Say::This(status, Vec::new(), body.as_bytes().to_vec());
    for say in [
        stored_as(200, ""),
        stored_as(201, "ok"),
        stored_as(201, "{}"),
        stored_as(204, ""),
        answer(202, &json!({"client_message_id": "k", "queued": true})),
        stored("another"),
        answer(
            201,
            &json!({"message_id": "01HF7YAT000000000000000004",
                "user_id": "01HF7YAT000000000000000003", "duplicate": false, "client_message_id": "k"}),
        ),
        answer(
            201,
            &json!({"message_id": "01HF7YAT000000000000000004",
                "user_id": "01HF7YAT000000000000000003", "seq": 1, "duplicate": false,
                "redaction_state": "moonstruck", "client_message_id": "k"}),
        ),
    ] {
        let answer = append(say.clone()).await;
        assert_eq!(told(&answer), "timeout", "{say:?}");
        let error = answer.unwrap_err();
        let cause = ClientError::behind(&error);
        assert!(
            matches!(cause, Some(ClientError::Unreadable { .. })),
            "{cause:?}"
        );
    }
    assert_eq!(told(&append(stored("k")).await), "stored");
}

/// T-14: the turn is stored and the store's own answer was lost.
#[tokio::test]
async fn a_committed_turn_is_told_with_its_id() {
    let say = answer(
        200,
        &json!({"message_id": "01HF7YAT000000000000000004", "user_id": "01HF7YAT000000000000000003",
            "duplicate": false, "client_message_id": "k", "warnings": ["the answer was lost"]}),
    );
    let Err(AppendError::Committed { key, turn_id, .. }) = append(say).await else {
        panic!("not committed");
    };
    assert_eq!(key.as_str(), "k");
    assert_eq!(turn_id.to_string(), "01HF7YAT000000000000000004");
}

/// failures.md 34
#[tokio::test]
async fn no_read_takes_an_unreadable_answer_for_nothing_found() {
    for say in [
        Say::This(200, Vec::new(), b"[]".to_vec()),
        Say::This(200, Vec::new(), Vec::new()),
        answer(200, &json!({})),
        Say::This(404, Vec::new(), b"<html>".to_vec()),
        problem(404, "not_found"),
        problem(404, "moonstruck"),
    ] {
        let stub = Stub::saying([say.clone()]).await;
        let client = stub.client();
        let recent = client
            .recent(&acme(), mina(), &RecentQuery::default())
            .await;
        assert!(recent.is_err(), "{say:?}");
        assert!(client.usage(&acme(), mina()).await.is_err(), "{say:?}");
        assert!(client.user(&acme(), mina()).await.is_err(), "{say:?}");
        let who = ChannelUser::new(PlatformKind::Custom, "a").unwrap();
        assert!(client.lookup(&acme(), &who.id).await.is_err(), "{say:?}");
        assert!(client.resolve(&acme(), &who).await.is_err(), "{say:?}");
    }
}
