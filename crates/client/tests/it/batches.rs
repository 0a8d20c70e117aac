//! Many turns in as few requests as they need, one answer each.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use throughline_client::Settings;
use throughline_conversation_memory::contract::turn;
use throughline_conversation_memory::{
    AppendError, AppendOutcome, ConversationMemory, NewTurn, RejectReason,
};
use throughline_domain::UserId;
use throughline_tenancy::TenantConfig;

use crate::stub::{Say, Stub, acme, answer, outcome, problem, quick};
use crate::subject::{service, service_with};

fn turns(user: UserId, count: usize, words: usize) -> Vec<NewTurn> {
    let words = "x".repeat(words);
    (0..count)
        .map(|n| turn(user, &format!("k{n}")).saying(&words).build())
        .collect()
}

fn mina() -> UserId {
    UserId::from_u128(3)
}

fn stored(key: &str, seq: u64) -> Value {
    json!({
        "status": 201, "message_id": "01HF7YAT000000000000000004",
        "user_id": "01HF7YAT000000000000000003", "seq": seq, "duplicate": false,
        "redaction_state": "clean", "client_message_id": key,
    })
}

/// More turns than one request may have, and more bytes: all stored, in order.
#[tokio::test]
async fn a_batch_of_any_size_is_stored_in_its_order() {
    let service = service().await;
    let acme = service.tenant("acme", TenantConfig::default()).await;
    let mina = service.user(&acme).await;
    let client = service.client();
    for (count, words) in [(1_201, 1), (9, 256 * 1024)] {
        let before = client.usage(&acme, mina).await.unwrap().turn_count;
        let given: Vec<NewTurn> = (0..count)
            .map(|n| {
                let key = format!("{count}-{n}");
                turn(mina, &key).saying(&"x".repeat(words)).build()
            })
            .collect();
        let answers = client.append_batch(&acme, given.clone()).await;
        let seqs: Vec<u64> = answers
            .iter()
            .map(|answer| answer.as_ref().expect("stored").seq)
            .collect();
        assert_eq!(seqs.len(), count);
        assert!(seqs.is_sorted_by(|a, b| a < b), "{seqs:?}");
        let again = client.append_batch(&acme, given).await;
        let duplicate = |outcome| outcome == AppendOutcome::Duplicate;
        assert!(
            again
                .iter()
                .all(|a| a.as_ref().is_ok_and(|a| duplicate(a.outcome)))
        );
        let after = client.usage(&acme, mina).await.unwrap().turn_count;
        assert_eq!(after - before, count as u64);
    }
}

/// A service that takes less at once than the client thinks gets less, down to single turns.
#[tokio::test]
async fn a_batch_too_large_for_the_service_is_halved() {
    let settings = throughline_api::Settings {
        body_limit: 4_000,
        ..throughline_api::Settings::default()
    };
    let service = service_with(settings, |_, _| {}).await;
    let acme = service.tenant("acme", TenantConfig::default()).await;
    let mina = service.user(&acme).await;
    let client = service.client();
    let mut given = turns(mina, 7, 1_000);
    given.insert(3, turn(mina, "huge").saying(&"x".repeat(5_000)).build());
    let answers = client.append_batch(&acme, given).await;
    for (place, answer) in answers.iter().enumerate() {
        match (place, answer) {
            (3, Err(AppendError::Rejected { key, reason })) => {
                assert_eq!((key.as_str(), reason), ("huge", &RejectReason::Unstorable));
            }
            (3, other) => panic!("{other:?}"),
            (_, answer) => assert!(answer.is_ok(), "{place}: {answer:?}"),
        }
    }
    assert_eq!(client.usage(&acme, mina).await.unwrap().turn_count, 7);
}

#[tokio::test]
async fn each_turn_of_a_batch_has_its_own_answer() {
    let refused = |code: &str, outcome: Option<&str>| {
        let error = json!({"status": 409, "code": code, "outcome": outcome});
        json!({"status": 409, "error": error})
    };
    let stub = Stub::saying([answer(
        200,
        &json!({"results": [
            stored("k0", 1),
            refused("idempotency_mismatch", None),
            refused("unavailable", Some("unknown")),
            refused("unavailable", Some("not_stored")),
            json!({"status": 202, "client_message_id": "k4", "queued": true}),
            json!({"status": 299}),
            stored("another", 2),
        ]}),
    )])
    .await;
    let answers = stub
        .client()
        .append_batch(&acme(), turns(mina(), 7, 1))
        .await;
    let told: Vec<&str> = answers
        .iter()
        .map(|answer| match answer {
            Ok(_) => "stored",
            Err(AppendError::Committed { .. }) => "committed",
            Err(AppendError::Rejected { .. }) => "rejected",
            Err(AppendError::Timeout { .. }) => "timeout",
            Err(AppendError::Transport { .. }) => "transport",
        })
        .collect();
    assert_eq!(
        told,
        [
            "stored",
            "rejected",
            "timeout",
            "transport",
            "timeout",
            "timeout",
            "timeout"
        ]
    );
    for (place, answer) in answers.iter().enumerate().skip(1) {
        let key = format!("k{place}");
        assert_eq!(answer.as_ref().unwrap_err().key().as_str(), key);
    }
}

/// Results that do not match the turns, or no answer at all, say nothing of any turn.
#[tokio::test]
async fn results_that_do_not_match_are_no_answers() {
    for say in [
        answer(200, &json!({"results": [stored("k0", 1)]})),
        answer(201, &json!({"results": [stored("k0", 1), stored("k1", 2)]})),
        answer(200, &json!({})),
        Say::This(200, Vec::new(), b"ok".to_vec()),
        outcome(503, "unavailable", "unknown"),
    ] {
        let stub = Stub::saying([say.clone()]).await;
        let client = stub.client_with(Settings {
            retries: 1,
            ..quick()
        });
        let answers = client.append_batch(&acme(), turns(mina(), 2, 1)).await;
        let unknown = |a: &Result<_, _>| matches!(a, Err(AppendError::Timeout { .. }));
        assert!(
            answers.len() == 2 && answers.iter().all(unknown),
            "{say:?} {answers:?}"
        );
    }
    let stub = Stub::saying([problem(401, "unauthorized")]).await;
    let answers = stub
        .client()
        .append_batch(&acme(), turns(mina(), 2, 1))
        .await;
    let not_stored = |a: &Result<_, _>| matches!(a, Err(AppendError::Transport { .. }));
    assert!(
        answers.len() == 2 && answers.iter().all(not_stored),
        "{answers:?}"
    );
    assert!(
        stub.client()
            .append_batch(&acme(), Vec::new())
            .await
            .is_empty()
    );
    assert_eq!(stub.asked().len(), 1);
}

/// One deadline for all requests of a batch: what was sent may be stored, what was not sent is not.
#[tokio::test]
async fn a_batch_of_several_requests_has_one_deadline() {
    let stub = Stub::saying([Say::Nothing]).await;
    let client = stub.client_with(Settings {
        deadline: Duration::from_millis(300),
        batch_bytes: 1,
        ..quick()
    });
    let start = Instant::now();
    let answers = client.append_batch(&acme(), turns(mina(), 3, 1)).await;
    assert!(
        start.elapsed() < Duration::from_secs(2),
        "{:?}",
        start.elapsed()
    );
    assert!(
        matches!(
            answers[..],
            [
                Err(AppendError::Timeout { .. }),
                Err(AppendError::Transport { .. }),
                Err(AppendError::Transport { .. }),
            ]
        ),
        "{answers:?}"
    );
    assert_eq!(stub.asked().len(), 1);
}
