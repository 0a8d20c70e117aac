//! Appends that the service keeps for later.

use std::sync::Arc;

use serde_json::Value;
use throughline_conversation_memory::contract::turn;
use throughline_conversation_memory::{
    AppendQueue, AuthorRef, ConversationMemory, NotKept, Outbox, OutboxQuery, OutboxState,
    QueuedAppend, QueuedAuthor,
};
use throughline_domain::{TenantId, Timestamp, UserId};
use throughline_tenancy::TenantConfig;

use crate::stub::{Stub, acme, answer, outcome};
use crate::subject::{NOW_MS, Service, service};

fn queued(user: UserId, key: &str, text: &str) -> QueuedAppend {
    let now = Timestamp::from_millis(NOW_MS);
    let turn = turn(user, key).saying(text).build();
    QueuedAppend::new(QueuedAuthor::User(user), turn, now)
}

async fn kept(service: &Service, tenant: &TenantId) -> Vec<String> {
    let query = OutboxQuery {
        state: OutboxState::Pending,
        after: None,
        limit: 100,
    };
    let outbox: Arc<dyn Outbox> = service.store.clone();
    let entries = outbox.list(tenant, query).await.expect("reads");
    let mut keys: Vec<String> = entries
        .into_iter()
        .map(|entry| entry.key.as_str().to_owned())
        .collect();
    // All of one moment of a clock that stands still.
    keys.sort_unstable();
    keys
}

/// The idempotent call of R-095.
#[tokio::test]
async fn an_append_is_kept_once_however_often_it_is_sent() {
    let service = service().await;
    let acme = service.tenant("acme", TenantConfig::default()).await;
    let mina = service.user(&acme).await;
    let client = service.client();
    let both = vec![queued(mina, "k1", "one"), queued(mina, "k2", "two")];
    for _ in 0..2 {
        let answers = client.keep(&acme, both.clone()).await;
        assert!(
            answers.len() == 2 && answers.iter().all(Result::is_ok),
            "{answers:?}"
        );
    }
    assert_eq!(kept(&service, &acme).await, ["k1", "k2"]);
    let other = client.keep(&acme, vec![queued(mina, "k1", "other")]).await;
    assert!(
        matches!(other[..], [Err(NotKept::KeyConflict)]),
        "{other:?}"
    );
    let nowhere = TenantId::parse("nowhere").unwrap();
    let unknown = client.keep(&nowhere, vec![queued(mina, "k", "hi")]).await;
    assert!(matches!(&unknown[..], [Err(NotKept::UnknownTenant(t))] if *t == nowhere));
}

#[tokio::test]
async fn a_channel_user_may_be_kept_before_they_are_resolved() {
    let service = service().await;
    let acme = service.tenant("acme", TenantConfig::default()).await;
    let author = AuthorRef {
        kind: "slack-user".to_owned(),
        id: "U1".to_owned(),
        display_name: None,
        email: None,
        email_verified: None,
        shared: false,
    };
    let turn = turn(UserId::from_u128(0), "k1").build();
    let append = QueuedAppend::new(
        QueuedAuthor::Ref(author),
        turn,
        Timestamp::from_millis(NOW_MS),
    );
    let answers = service.client().keep(&acme, vec![append]).await;
    assert!(answers[0].is_ok(), "{answers:?}");
    assert_eq!(kept(&service, &acme).await, ["k1"]);
}

/// the same words by both ways, so that the service knows the one by the other.
#[tokio::test]
async fn a_turn_is_kept_in_the_words_it_was_appended_with() {
    let stub = Stub::saying([outcome(503, "unavailable", "unknown")]).await;
    let client = stub.client();
    let user = UserId::from_u128(3);
    let now = Timestamp::from_millis(NOW_MS);
    for turn in [turn(user, "k").build(), turn(user, "k").at(now).build()] {
        let before = stub.asked().len();
        assert!(client.append(&acme(), turn.clone()).await.is_err());
        let later = Timestamp::from_millis(NOW_MS + 5_000);
        let append = QueuedAppend::new(QueuedAuthor::User(user), turn, later);
        let answers = client.keep(&acme(), vec![append]).await;
        let unknown = matches!(
            answers[..],
            [Err(NotKept::Unavailable {
                perhaps_kept: true,
                ..
            })]
        );
        assert!(unknown, "{answers:?}");
        let bodies: Vec<Value> = stub.asked()[before..]
            .iter()
            .map(|asked| serde_json::from_slice(&asked.body).unwrap())
            .collect();
        assert!(bodies.iter().all(|body| *body == bodies[0]), "{bodies:?}");
    }
}

#[tokio::test]
async fn only_a_turn_that_is_said_to_be_queued_is_kept() {
    let body =
        |key: &str, queued: bool| serde_json::json!({"client_message_id": key, "queued": queued});
    for (say, expected) in [
        (answer(202, &body("k", true)), true),
        (answer(202, &body("k", false)), false),
        (answer(202, &body("another", true)), false),
        (answer(200, &body("k", true)), false),
    ] {
        let stub = Stub::saying([say.clone()]).await;
        let append = queued(UserId::from_u128(3), "k", "hi");
        let answers = stub.client().keep(&acme(), vec![append]).await;
        assert_eq!(answers[0].is_ok(), expected, "{say:?}");
    }
}
