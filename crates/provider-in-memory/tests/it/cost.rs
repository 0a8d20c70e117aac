//! What a call costs does not depend on how much lies in the store (failures.md 32).

use std::time::{Duration, Instant};

use throughline_conversation_memory::contract::{Subject as _, turn};
use throughline_conversation_memory::{ConversationMemory, Limit, NewTurn, RecentQuery};
use throughline_domain::{TenantId, UserId};
use throughline_tenancy::TenantConfig;

use crate::subject::{Subject, subject};

/// How many turns the users of a test have.
const LENGTHS: [u32; 3] = [10, 1_000, 10_000];

/// Beyond every number that was used.
const FRESH: u32 = 10_000;

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

/// One user and scope for each of [`LENGTHS`].
async fn users(subject: &Subject, acme: &TenantId) -> Vec<(UserId, String)> {
    let mut users = Vec::new();
    for turns in LENGTHS {
        users.push(with_turns(subject, acme, turns).await);
    }
    users
}

/// A walk over the whole history would take a hundred and a thousand times as long; ten leaves room for
/// cold caches and a busy machine. The benchmark measures closer.
async fn assert_alike(
    what: &str,
    users: &[(UserId, String)],
    cost: impl AsyncFn(&(UserId, String)) -> Duration,
) {
    let mut shortest = None;
    for (turns, user) in LENGTHS.into_iter().zip(users) {
        let cost = cost(user).await;
        println!("{what}: {cost:?} with {turns} turns");
        let base = *shortest.get_or_insert(cost);
        assert!(
            cost < base * 10,
            "{what}: {base:?} became {cost:?} with {turns} turns"
        );
    }
}

#[tokio::test]
async fn a_long_history_makes_no_call_slower() {
    let subject = subject().await;
    let acme = subject.tenant("acme", TenantConfig::default()).await;
    let users = users(&subject, &acme).await;
    let store = &subject.store;
    let limit = Limit::new(10).expect("not zero");
    let query = RecentQuery {
        limit,
        ..RecentQuery::default()
    };
    assert_alike("recent", &users, async |(user, _)| {
        best(async |_| {
            let page = store.recent(&acme, *user, &query).await.unwrap();
            assert_eq!(page.turns.len(), 10);
        })
        .await
    })
    .await;
    assert_alike("history", &users, async |(user, scope)| {
        let scope = said(*user, scope, 0).scope().clone();
        best(async |_| {
            let turns = store.history(&acme, &scope, limit).await.unwrap();
            assert_eq!(turns.len(), 10);
        })
        .await
    })
    .await;
    assert_alike("append", &users, async |(user, scope)| {
        best(async |round| {
            let new = said(*user, scope, FRESH + round);
            store.append(&acme, new).await.unwrap();
        })
        .await
    })
    .await;
}

#[tokio::test]
async fn turns_that_have_ended_are_not_walked() {
    let subject = subject().await;
    let acme = subject.tenant("acme", TenantConfig::default()).await;
    let users = users(&subject, &acme).await;
    subject.clock.advance(Duration::from_hours(24 * 365));
    let store = &subject.store;
    assert_alike("recent, ended", &users, async |(user, _)| {
        best(async |_| {
            let page = store.recent(&acme, *user, &RecentQuery::default()).await;
            assert_eq!(page.unwrap().turns, []);
        })
        .await
    })
    .await;
    assert_alike("history, ended", &users, async |(user, scope)| {
        let scope = said(*user, scope, 0).scope().clone();
        best(async |_| {
            let turns = store.history(&acme, &scope, Limit::default()).await;
            assert_eq!(turns.unwrap(), []);
        })
        .await
    })
    .await;
}
