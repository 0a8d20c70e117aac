//! What waited on disk is stored once, whoever said it, and what is refused is found in one place.

use std::sync::atomic::Ordering;

use throughline_conversation_memory::{AppendQueue, AuthorRef, NotKept, OutboxState, QueuedAuthor};
use throughline_domain::{TenantId, UserId};
use throughline_platform_identity::{PlatformIdentity, PlatformKind, PlatformUserId};
use throughline_spool::NewEntry;

use crate::fixture::Fixture;

pub(crate) fn named(id: &str) -> QueuedAuthor {
    QueuedAuthor::Ref(AuthorRef {
        kind: "custom".to_owned(),
        id: id.to_owned(),
        display_name: Some("Noor".to_owned()),
        email: None,
        email_verified: None,
        shared: false,
    })
}

#[tokio::test]
async fn an_unresolved_author_is_resolved_when_the_turn_is_stored() {
    let fixture = Fixture::with_spool().await;
    let (acme, _) = fixture.acme().await;
    fixture.faults.away.store(true, Ordering::SeqCst);
    let appends = (0..3).map(|n| fixture.append(named("noor"), &n.to_string(), "hi"));
    let kept = fixture.keeper.keep(&acme, appends.collect()).await;
    assert!(kept.iter().all(Result::is_ok), "{kept:?}");
    fixture.faults.away.store(false, Ordering::SeqCst);
    assert_eq!(fixture.sweep().await.stored, 3);
    let id = PlatformUserId::new(PlatformKind::Custom, "noor").unwrap();
    let noor = fixture.store.lookup(&acme, &id).await.unwrap().unwrap();
    assert_eq!(fixture.stored(&acme, noor).await, 3);
    let user = fixture.store.user(&acme, noor).await.unwrap().unwrap();
    assert_eq!(user.identities[0].display_name.as_deref(), Some("Noor"));
}

#[tokio::test]
async fn a_process_that_ends_loses_nothing_it_kept() {
    let mut fixture = Fixture::with_spool().await;
    let (acme, mina) = fixture.acme().await;
    fixture.faults.away.store(true, Ordering::SeqCst);
    let kept = fixture
        .keep(&acme, mina, (0..100).map(|n| format!("k{n}")))
        .await;
    assert!(kept.iter().all(Result::is_ok));
    fixture.reopen().await;
    fixture.faults.away.store(false, Ordering::SeqCst);
    assert_eq!(fixture.sweep().await.stored, 100);
    assert_eq!(fixture.stored(&acme, mina).await, 100);
}

#[tokio::test]
async fn a_refused_entry_of_the_spool_is_a_dead_letter_of_the_outbox() {
    let fixture = Fixture::with_spool().await;
    let (acme, mina) = fixture.acme().await;
    fixture.faults.away.store(true, Ordering::SeqCst);
    fixture
        .keep(
            &acme,
            UserId::from_u128(7),
            (0..100).map(|n| format!("poison{n}")),
        )
        .await;
    fixture.keep(&acme, mina, ["good".to_owned()]).await;
    fixture.faults.away.store(false, Ordering::SeqCst);
    let report = fixture.sweep().await;
    assert_eq!((report.stored, report.dead), (1, 100));
    let dead = fixture.listed(&acme, OutboxState::DeadLetter).await;
    assert_eq!(dead.len(), 100);
    assert_eq!(fixture.metric("ccm_spool_entries"), 0.0);
    assert_eq!(fixture.metric("ccm_spool_set_aside"), 0.0);
}

// Where the outbox cannot have it, it is set aside and counted.
#[tokio::test]
async fn an_entry_of_an_unknown_tenant_is_set_aside() {
    let fixture = Fixture::with_spool().await;
    let (acme, mina) = fixture.acme().await;
    let append = fixture.append(QueuedAuthor::User(mina), "k", "hi");
    for tenant in [TenantId::parse("nobody").unwrap(), acme] {
        let entry = NewEntry {
            tenant,
            user: Some(mina),
            key: "k".to_owned(),
            order: None,
            digest: None,
            payload: append.encode().into_bytes(),
        };
        let spool = fixture.deps.spool.as_ref().unwrap();
        spool.enqueue(entry).await.unwrap();
    }
    let report = fixture.sweep().await;
    assert_eq!((report.stored, report.dead), (1, 1));
    assert_eq!(fixture.metric("ccm_spool_set_aside"), 1.0);
    assert_eq!(fixture.metric("ccm_outbox_dlq_total"), 1.0);
    fixture.wait(std::time::Duration::from_hours(14 * 24 + 1));
    assert_eq!(fixture.sweep().await.expired, 1);
}

// T-37
#[tokio::test]
async fn entries_of_a_forgotten_user_are_dropped_at_replay() {
    let fixture = Fixture::with_spool().await;
    let (acme, mina) = fixture.acme().await;
    fixture.faults.away.store(true, Ordering::SeqCst);
    fixture
        .keep(&acme, mina, (0..3).map(|n| format!("k{n}")))
        .await;
    fixture.faults.away.store(false, Ordering::SeqCst);
    fixture.faults.gone.lock().push("k1".to_owned());
    let report = fixture.sweep().await;
    assert_eq!((report.stored, report.dropped, report.dead), (2, 1, 0));
    assert_eq!(fixture.metric("ccm_spool_entries"), 0.0);
}

#[tokio::test]
async fn a_key_that_waits_with_other_words_is_a_conflict_in_the_spool_too() {
    let fixture = Fixture::with_spool().await;
    let (acme, mina) = fixture.acme().await;
    fixture.faults.away.store(true, Ordering::SeqCst);
    let user = QueuedAuthor::User(mina);
    let appends = vec![
        fixture.append(user.clone(), "k", "one"),
        fixture.append(user.clone(), "k", "one"),
        fixture.append(user, "k", "two"),
    ];
    let mut kept = fixture.keeper.keep(&acme, appends).await;
    assert!(matches!(kept.pop(), Some(Err(NotKept::KeyConflict))));
    assert!(kept.iter().all(Result::is_ok), "{kept:?}");
    assert_eq!(fixture.metric("ccm_spool_entries"), 1.0);
}

#[tokio::test]
async fn every_series_is_there_from_the_start() {
    let fixture = Fixture::new().await;
    for series in [
        "ccm_outbox_pending",
        "ccm_outbox_dlq ",
        "ccm_outbox_dlq_total",
        "ccm_outbox_oldest_age_seconds",
        "ccm_dlq_oldest_age_seconds",
        "ccm_spool_entries",
        "ccm_spool_bytes",
        "ccm_spool_limit_bytes",
        "ccm_spool_set_aside",
        "ccm_spool_corrupt",
        "ccm_spool_oldest_age_seconds",
        "ccm_outbox_local_dropped_total",
        "ccm_outbox_queued_total{place=\"outbox\"}",
        "ccm_outbox_queued_total{place=\"spool\"}",
        "ccm_outbox_drained_total{outcome=\"stored\"}",
    ] {
        assert_eq!(fixture.metric(series), 0.0, "{series}");
    }
}
