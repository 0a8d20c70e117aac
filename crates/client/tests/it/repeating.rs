//! What is repeated, how often, when, and what never is.

use std::time::{Duration, Instant};

use throughline_client::{Client, ClientError, Keys, Settings};
use throughline_conversation_memory::contract::turn;
use throughline_conversation_memory::{
    AppendError, AppendOutcome, ChannelKind, ChannelScope, ConversationMemory, MemoryError,
    RecentQuery,
};
use throughline_domain::{Actor, TenantId, UserId};
use throughline_platform_identity::{MergeSource, PlatformIdentity};
use throughline_tenancy::{Scope, TenantConfig};
use throughline_wire::Code;
use tokio::net::TcpListener;

use crate::stub::{Say, Stub, acme, outcome, problem, quick, stored, with};
use crate::subject::service;

fn mina() -> UserId {
    UserId::from_u128(3)
}

fn scope() -> ChannelScope {
    ChannelScope::new(ChannelKind::parse("slack-user").expect("well-formed"), "C1")
        .expect("well-formed")
}

/// one key for every attempt.
#[tokio::test]
async fn an_append_is_repeated_word_for_word_until_it_is_stored() {
    let html = Say::This(502, Vec::new(), b"<html>".to_vec());
    let stub = Stub::saying([
        outcome(503, "unavailable", "unknown"),
        problem(503, "overloaded"),
        problem(408, "timeout"),
        html,
        stored("k"),
    ])
    .await;
    let appended = stub
        .client()
        .append(&acme(), turn(mina(), "k").build())
        .await;
    assert!(appended.is_ok(), "{appended:?}");
    let asked = stub.asked();
    assert_eq!(asked.len(), 5);
    for again in &asked[1..] {
        assert_eq!(again.body, asked[0].body);
        assert_eq!(again.uri, asked[0].uri);
    }
    let body: serde_json::Value = serde_json::from_slice(&asked[0].body).unwrap();
    assert_eq!(body["client_message_id"], "k");
    assert_eq!(asked[0].headers["authorization"], "Bearer a-key");
}

#[tokio::test]
async fn repeating_is_bounded_and_the_last_error_is_told() {
    let stub = Stub::saying([outcome(503, "unavailable", "not_stored")]).await;
    let settings = Settings {
        retries: 2,
        ..quick()
    };
    let client = stub.client_with(settings);
    let error = client.append(&acme(), turn(mina(), "k").build()).await;
    assert!(
        matches!(error, Err(AppendError::Transport { .. })),
        "{error:?}"
    );
    assert_eq!(stub.asked().len(), 3);
}

#[tokio::test]
async fn what_will_not_change_is_not_repeated() {
    for (status, code) in [
        (401, "unauthorized"),
        (403, "forbidden"),
        (409, "idempotency_mismatch"),
        (410, "gone"),
        (422, "invalid_text"),
        (500, "internal"),
        (409, "moonstruck"),
    ] {
        let stub = Stub::saying([problem(status, code)]).await;
        let answer = stub
            .client()
            .append(&acme(), turn(mina(), "k").build())
            .await;
        assert!(answer.is_err());
        assert_eq!(stub.asked().len(), 1, "{code}");
    }
}

/// Once an attempt may have stored the turn, a later refusal to look at it does not take that back.
#[tokio::test]
async fn what_may_have_happened_once_is_not_forgotten() {
    let refused = with(problem(429, "rate_limited"), "retry-after", "3600");
    let stub = Stub::saying([outcome(503, "unavailable", "unknown"), refused]).await;
    let answer = stub
        .client()
        .append(&acme(), turn(mina(), "k").build())
        .await;
    assert!(
        matches!(answer, Err(AppendError::Timeout { .. })),
        "{answer:?}"
    );
    assert_eq!(stub.asked().len(), 2);
}

/// A second clearing would hide turns that came in between.
#[tokio::test]
async fn a_change_is_repeated_only_while_it_was_not_made() {
    let cleared = || Say::This(204, Vec::new(), Vec::new());
    let stub = Stub::saying([
        problem(503, "overloaded"),
        problem(429, "rate_limited"),
        cleared(),
    ])
    .await;
    stub.client().clear(&acme(), &scope()).await.unwrap();
    assert_eq!(stub.asked().len(), 3);

    for first in [
        problem(503, "unavailable"),
        Say::This(504, Vec::new(), Vec::new()),
    ] {
        let stub = Stub::saying([first, cleared()]).await;
        assert!(stub.client().clear(&acme(), &scope()).await.is_err());
        assert_eq!(stub.asked().len(), 1);
    }
}

#[tokio::test]
async fn the_service_is_left_alone_for_as_long_as_it_asks() {
    let busy = with(problem(429, "rate_limited"), "retry-after", "1");
    let stub = Stub::saying([busy, stored("k")]).await;
    let start = Instant::now();
    let answer = stub
        .client()
        .append(&acme(), turn(mina(), "k").build())
        .await;
    assert!(answer.is_ok(), "{answer:?}");
    assert!(
        start.elapsed() >= Duration::from_secs(1),
        "{:?}",
        start.elapsed()
    );
}

#[tokio::test]
async fn a_wait_beyond_the_deadline_is_not_waited_for() {
    let busy = with(problem(503, "overloaded"), "retry-after", "3600");
    let stub = Stub::saying([busy]).await;
    let start = Instant::now();
    let answer = stub
        .client()
        .recent(&acme(), mina(), &RecentQuery::default())
        .await;
    let Err(error @ MemoryError::Unavailable(_)) = answer else {
        panic!("{answer:?}");
    };
    let code = ClientError::behind(&error).and_then(ClientError::code);
    assert_eq!(code, Some(Code::Overloaded));
    assert_eq!(stub.asked().len(), 1);
    assert!(
        start.elapsed() < quick().deadline / 2,
        "{:?}",
        start.elapsed()
    );
}

#[tokio::test]
async fn a_silent_service_costs_an_attempt_and_never_more_than_the_deadline() {
    let settings = Settings {
        deadline: Duration::from_millis(600),
        attempt: Duration::from_millis(200),
        ..quick()
    };
    let stub = Stub::saying([Say::Nothing, stored("k")]).await;
    let client = stub.client_with(settings.clone());
    assert!(
        client
            .append(&acme(), turn(mina(), "k").build())
            .await
            .is_ok()
    );

    let stub = Stub::saying([Say::Nothing]).await;
    let client = stub.client_with(settings);
    let start = Instant::now();
    let answer = client.append(&acme(), turn(mina(), "k").build()).await;
    assert!(
        matches!(answer, Err(AppendError::Timeout { .. })),
        "{answer:?}"
    );
    let took = start.elapsed();
    assert!(took >= Duration::from_millis(500), "{took:?}");
    assert!(took < Duration::from_millis(1_500), "{took:?}");
    assert!(stub.asked().len() >= 2);
}

#[tokio::test]
async fn nothing_was_stored_where_nobody_listens() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let client = Client::builder(&url, Keys::one("a-key").unwrap()).settings(quick());
    let client = client.build().unwrap();
    let answer = client.append(&acme(), turn(mina(), "k").build()).await;
    assert!(
        matches!(answer, Err(AppendError::Transport { .. })),
        "{answer:?}"
    );
    let error = answer.unwrap_err();
    let cause = ClientError::behind(&error);
    assert!(
        matches!(cause, Some(ClientError::NotConnected(_))),
        "{cause:?}"
    );
}

#[tokio::test]
async fn without_the_right_key_nothing_is_sent() {
    let stub = Stub::saying([stored("k")]).await;
    let keys = Keys::none();
    keys.set(acme(), "a-key").unwrap();
    let client = Client::builder(&stub.url, keys.clone()).build().unwrap();
    let other = TenantId::parse("acme-corp").unwrap();
    let answer = client.append(&other, turn(mina(), "k").build()).await;
    assert!(
        matches!(answer, Err(AppendError::Transport { .. })),
        "{answer:?}"
    );
    let actor = Actor::parse("olga").unwrap();
    let (one, two) = (mina(), UserId::from_u128(4));
    let merged = client
        .merge(&acme(), one, two, MergeSource::Manual, &actor)
        .await;
    let error = merged.unwrap_err();
    assert!(
        matches!(ClientError::behind(&error), Some(ClientError::OperatorOnly)),
        "{error:?}"
    );
    keys.set(
        acme(),
        &format!("tlk_{}:{}:x", ":operator", "01HF7YAT000000000000000003"),
    )
    .unwrap();
    let proposed = client.propose_merge(&acme(), one, two, &actor).await;
    let error = proposed.unwrap_err();
    assert!(
        matches!(ClientError::behind(&error), Some(ClientError::WouldMerge)),
        "{error:?}"
    );
    assert_eq!(stub.asked().len(), 0);
}

/// A key that is revoked loses no turn: what it could not store is told as not stored, and is stored
/// under the next key.
#[tokio::test]
async fn a_key_is_replaced_while_the_client_runs() {
    let service = service().await;
    let acme = service.tenant("acme", TenantConfig::default()).await;
    let mina = service.user(&acme).await;
    let keys = Keys::none();
    keys.set(acme.clone(), "tlk_acme:01HF7YAT000000000000000003:revoked")
        .unwrap();
    let client = Client::builder(&service.url, keys.clone()).build().unwrap();
    let turn = turn(mina, "k").build();
    let answer = client.append(&acme, turn.clone()).await;
    let Err(error @ AppendError::Transport { .. }) = answer else {
        panic!("{answer:?}");
    };
    let code = ClientError::behind(&error).and_then(ClientError::code);
    assert_eq!(code, Some(Code::Unauthorized));
    let key = service.key(&acme, &[Scope::TurnsWrite]).await;
    keys.set(acme.clone(), &key).unwrap();
    let stored = client.append(&acme, turn).await.expect("stored");
    assert_eq!(stored.outcome, AppendOutcome::Stored);
}

#[tokio::test]
async fn what_no_address_can_hold_is_not_sent() {
    let stub = Stub::saying([stored("k")]).await;
    let kind = |n: u32| ChannelKind::parse(&format!("{n:064}")).unwrap();
    let query = RecentQuery {
        channel_kinds: (0..2_000).map(kind).collect(),
        ..RecentQuery::default()
    };
    let error = stub.client().recent(&acme(), mina(), &query).await;
    let error = error.unwrap_err();
    let cause = ClientError::behind(&error);
    assert!(matches!(cause, Some(ClientError::TooLong)), "{cause:?}");
    assert_eq!(stub.asked().len(), 0);
}
