//! What travels beside the bodies: trace context there, the erasure epoch back.

use throughline_client::{Client, Keys, TraceContext};
use throughline_conversation_memory::contract::turn;
use throughline_conversation_memory::{ConversationMemory, RecentQuery};
use throughline_domain::{Actor, UserId};
use throughline_erasure::{Erasure, Mode};
use throughline_tenancy::TenantConfig;
use tokio_util::task::TaskTracker;

use crate::stub::{Stub, acme, problem, stored, with};
use crate::subject::service;

const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

/// T-48: a spawned task has no context until it enters one.
#[tokio::test]
async fn the_callers_trace_context_goes_along_and_no_other() {
    let stub = Stub::saying([stored("k")]).await;
    let client = stub.client();
    let append = || {
        let client = client.clone();
        async move {
            let turn = turn(UserId::from_u128(3), "k").build();
            client.append(&acme(), turn).await.expect("stored");
        }
    };
    append().await;
    let context = TraceContext::parse(PARENT).unwrap();
    let context = context.with_state("a=1,b=2").unwrap();
    context.clone().run(append()).await;
    let tasks = TaskTracker::new();
    let spawned = async { tasks.spawn(append()).await.expect("ends") };
    context.run(spawned).await;
    let asked = stub.asked();
    let traced: Vec<bool> = asked
        .iter()
        .map(|asked| asked.headers.contains_key("traceparent"))
        .collect();
    assert_eq!(traced, [false, true, false]);
    assert_eq!(asked[1].headers["traceparent"], PARENT);
    assert_eq!(asked[1].headers["tracestate"], "a=1,b=2");
}

#[tokio::test]
async fn a_host_may_keep_the_context_elsewhere() {
    let stub = Stub::saying([stored("k")]).await;
    let client = Client::builder(&stub.url, Keys::one("a-key").unwrap())
        .traced_by(|| TraceContext::parse(PARENT).ok())
        .build()
        .unwrap();
    let turn = turn(UserId::from_u128(3), "k").build();
    client.append(&acme(), turn).await.expect("stored");
    let asked = stub.asked();
    assert_eq!(asked[0].headers["traceparent"], PARENT);
    assert!(!asked[0].headers.contains_key("tracestate"));
}

/// D-09: whoever caches sees an erasure in the next answer, a refusal included.
#[tokio::test]
async fn an_erasure_is_seen_in_the_next_answer() {
    let service = service().await;
    let acme = service.tenant("acme", TenantConfig::default()).await;
    let other = service.tenant("other", TenantConfig::default()).await;
    let mina = service.user(&acme).await;
    let client = service.client();
    assert_eq!(client.epochs().of(&acme), None);
    let mut watched = client.epochs().watch(&acme);
    let read = async || {
        let page = client.recent(&acme, mina, &RecentQuery::default()).await;
        page.expect("reads");
    };
    read().await;
    assert!(watched.has_changed().unwrap());
    let before = watched.borrow_and_update().expect("an epoch");
    read().await;
    assert!(!watched.has_changed().unwrap());
    let olga = Actor::parse("olga").unwrap();
    let receipt = client.erase(&acme, mina, &olga, Mode::Erase).await.unwrap();
    read().await;
    assert!(watched.has_changed().unwrap());
    assert_eq!(*watched.borrow_and_update(), Some(before + 1));
    assert_eq!(receipt.erasure_epoch, before + 1);
    assert_eq!(client.epochs().of(&other), None);
}

#[tokio::test]
async fn a_refusal_has_an_epoch_too() {
    let stub = Stub::saying([with(problem(422, "expired"), "x-erasure-epoch", "7")]).await;
    let client = stub.client();
    let turn = turn(UserId::from_u128(3), "k").build();
    assert!(client.append(&acme(), turn).await.is_err());
    assert_eq!(client.epochs().of(&acme()), Some(7));
}
