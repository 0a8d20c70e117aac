//! Questions for versions share statements when they come together (docs/adr/0042).

use std::time::Duration;

use futures_util::future::join_all;
use throughline_conversation_memory::contract::{Subject as _, turn};
use throughline_conversation_memory::{ConversationMemory as _, MemoryError, ReadVersion};
use throughline_domain::{Actor, TenantId, UserId};
use throughline_platform_identity::{MergeSource, PlatformIdentity as _};

use super::scratch::Scratch;

type Answer = Result<Option<ReadVersion>, MemoryError>;

/// A store with one connection, so that whoever has it makes the others wait.
async fn narrow(pool_wait: Duration) -> Scratch {
    Scratch::configured(|config| {
        config.pool_size = 1;
        config.pool_wait = pool_wait;
    })
    .await
}

async fn asked(scratch: &Scratch, people: &[(TenantId, UserId)]) -> Vec<Answer> {
    let ask = |(tenant, user): &(TenantId, UserId)| {
        let (tenant, user) = (tenant.clone(), *user);
        async move { scratch.store.read_version(&tenant, user).await }
    };
    join_all(people.iter().map(ask)).await
}

fn statements(scratch: &Scratch) -> [u64; 2] {
    ["read_version", "read_versions"].map(|name| scratch.store.sessions.metrics.times(name))
}

/// People of two tenants, of whom one was merged, one has said nothing and one is of the other tenant.
async fn people(scratch: &Scratch) -> Vec<(TenantId, UserId)> {
    let (acme, other) = (scratch.acme().await, scratch.tenant("other", 90).await);
    let mut people = Vec::new();
    for number in 0..9 {
        let tenant = if number % 3 == 0 { &other } else { &acme };
        let user = scratch.user(tenant).await;
        for turns in 0..number {
            let said = turn(user, &format!("{number} {turns}")).build();
            scratch.store.append(tenant, said).await.unwrap();
        }
        people.push((tenant.clone(), user));
    }
    let alice = Actor::parse("alice").unwrap();
    let (target, source) = (people[1].1, people[2].1);
    let merged = scratch
        .store
        .merge(&acme, target, source, MergeSource::Manual, &alice);
    merged.await.unwrap();
    people.push((acme, people[3].1));
    people
}

#[tokio::test]
async fn what_comes_together_shares_a_statement_and_has_an_answer_each() {
    let scratch = narrow(Duration::from_secs(20)).await;
    let people = people(&scratch).await;
    let mut expected = Vec::new();
    for (tenant, user) in &people {
        let version = scratch.store.read_version(tenant, *user).await;
        expected.push(version.unwrap());
    }
    assert_eq!(expected[9], None, "of the other tenant");
    assert_eq!(expected[1], expected[2], "one person since the merge");
    let before = statements(&scratch);
    assert_eq!(before[1], 0, "one after the other each is alone");
    let held = scratch.store.sessions.session().await.unwrap();
    let many: Vec<_> = people.iter().cycle().take(600).cloned().collect();
    let ((), answers) = tokio::join!(
        async {
            tokio::task::yield_now().await;
            drop(held);
        },
        asked(&scratch, &many)
    );
    for (answer, expected) in answers.into_iter().zip(expected.iter().cycle()) {
        assert_eq!(answer.unwrap(), *expected);
    }
    // The first was alone, 599 others came while it waited.
    assert_eq!(statements(&scratch), [before[0] + 1, 3]);
}

#[tokio::test]
async fn a_statement_that_fails_is_an_error_to_each_and_not_to_the_next() {
    let scratch = narrow(Duration::from_millis(50)).await;
    let people = people(&scratch).await;
    let held = scratch.store.sessions.session().await.unwrap();
    for answer in asked(&scratch, &people).await {
        assert!(
            matches!(answer, Err(MemoryError::Unavailable(_))),
            "{answer:?}"
        );
    }
    drop(held);
    for answer in asked(&scratch, &people).await {
        answer.unwrap();
    }
}

#[tokio::test]
async fn whoever_goes_away_keeps_nobody_from_an_answer() {
    let scratch = narrow(Duration::from_secs(20)).await;
    let people = people(&scratch).await;
    let held = scratch.store.sessions.session().await.unwrap();
    let mut leaving = Box::pin(asked(&scratch, &people[..4]));
    let mut staying = Box::pin(asked(&scratch, &people[4..]));
    for asking in [&mut leaving, &mut staying] {
        let early = tokio::time::timeout(Duration::from_millis(20), asking).await;
        assert!(early.is_err(), "answered without a connection");
    }
    // The one that asks for itself is among them.
    drop(leaving);
    drop(held);
    for answer in staying.await {
        answer.unwrap();
    }
    let (tenant, user) = &people[0];
    let again = scratch.store.read_version(tenant, *user).await;
    assert!(again.unwrap().is_some());
}
