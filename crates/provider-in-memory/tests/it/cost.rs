//! What a call costs does not depend on how much lies in the store (failures.md 32).

use std::time::{Duration, Instant};

use throughline_conversation_memory::contract::{Subject as _, turn};
use throughline_conversation_memory::{ConversationMemory, Limit, NewTurn, RecentQuery};
use throughline_domain::{TenantId, UserId};
use throughline_tenancy::TenantConfig;

use crate::subject::{Subject, subject};

const LONG: u32 = 10_000;

/// A user with that many turns in a scope of their own, and the scope.
async fn with_turns(subject: &Subject, acme: &TenantId, turns: u32) -> (UserId, String) {
    let user = subject.user(acme).await;
    let scope = format!("C{turns}");
    for number in 0..turns {
        let new = said(user, &scope, number);
        subject.store.append(acme, new).await.expect("a good turn");
    }
    (user, scope)
}

fn said(user: UserId, scope: &str, number: u32) -> NewTurn {
    turn(user, &format!("{user} {number}"))
        .on("slack-user", scope)
        .build()
}

/// The best of many rounds: what the call itself needs, without what else the machine did.
async fn best(mut call: impl AsyncFnMut(u32)) -> Duration {
    let mut best = Duration::MAX;
    for round in 0..300 {
        let start = Instant::now();
        call(round).await;
        best = best.min(start.elapsed());
    }
    best
}

/// A walk over the whole history would be a thousand times as long; ten leaves room for a cold cache.
#[track_caller]
fn assert_alike(what: &str, short: Duration, long: Duration) {
    println!("{what}: {short:?} with 10 turns, {long:?} with {LONG}");
    assert!(long < short * 10, "{what}: {short:?} became {long:?}");
}

#[tokio::test]
async fn a_long_history_makes_no_call_slower() {
    let subject = subject().await;
    let acme = subject.tenant("acme", TenantConfig::default()).await;
    let short = with_turns(&subject, &acme, 10).await;
    let long = with_turns(&subject, &acme, LONG).await;
    let store = &subject.store;
    let limit = Limit::new(10).expect("not zero");
    let query = RecentQuery {
        limit,
        ..RecentQuery::default()
    };
    let recent = async |user| {
        best(async |_| {
            let page = store.recent(&acme, user, &query).await.unwrap();
            assert_eq!(page.turns.len(), 10);
        })
        .await
    };
    assert_alike("recent", recent(short.0).await, recent(long.0).await);

    let history = async |scope: &str| {
        let scope = said(short.0, scope, 0).scope().clone();
        best(async |_| {
            let turns = store.history(&acme, &scope, limit).await.unwrap();
            assert_eq!(turns.len(), 10);
        })
        .await
    };
    assert_alike("history", history(&short.1).await, history(&long.1).await);

    let append = async |(user, scope): &(UserId, String)| {
        best(async |round| {
            let new = said(*user, scope, LONG + round);
            store.append(&acme, new).await.unwrap();
        })
        .await
    };
    assert_alike("append", append(&short).await, append(&long).await);
}

#[tokio::test]
async fn turns_that_have_ended_are_not_walked() {
    let subject = subject().await;
    let acme = subject.tenant("acme", TenantConfig::default()).await;
    let short = with_turns(&subject, &acme, 10).await;
    let long = with_turns(&subject, &acme, LONG).await;
    subject.clock.advance(Duration::from_hours(24 * 365));
    let store = &subject.store;
    let recent = async |user| {
        best(async |_| {
            let page = store.recent(&acme, user, &RecentQuery::default()).await;
            assert_eq!(page.unwrap().turns, []);
        })
        .await
    };
    assert_alike("recent, ended", recent(short.0).await, recent(long.0).await);
    let history = async |scope: &str| {
        let scope = said(short.0, scope, 0).scope().clone();
        best(async |_| {
            let turns = store.history(&acme, &scope, Limit::default()).await;
            assert_eq!(turns.unwrap(), []);
        })
        .await
    };
    assert_alike(
        "history, ended",
        history(&short.1).await,
        history(&long.1).await,
    );
}
