//! A store that is away costs nobody an attempt (T-17).

use std::sync::atomic::Ordering;
use std::time::Duration;

use throughline_conversation_memory::{NotKept, OutboxState};

use crate::fixture::Fixture;

/// An hour of sweeps, every ten seconds.
async fn an_hour(fixture: &Fixture) {
    for _ in 0..360 {
        fixture.wait(Duration::from_secs(10));
        let report = fixture.sweep().await;
        assert_eq!((report.stored, report.dead), (0, 0));
    }
}

#[tokio::test]
async fn an_hour_without_a_store_makes_no_dead_letter() {
    let fixture = Fixture::with_spool().await;
    let (acme, mina) = fixture.acme().await;
    fixture
        .keep(&acme, mina, (0..40).map(|n| format!("before{n}")))
        .await;
    fixture.faults.away.store(true, Ordering::SeqCst);
    let kept = fixture
        .keep(&acme, mina, (0..40).map(|n| format!("during{n}")))
        .await;
    assert!(kept.iter().all(Result::is_ok), "{kept:?}");
    assert_eq!(fixture.metric("ccm_spool_entries"), 40.0);
    an_hour(&fixture).await;
    assert_eq!(fixture.metric("ccm_spool_oldest_age_seconds"), 3_600.0);
    fixture.faults.away.store(false, Ordering::SeqCst);
    assert_eq!(fixture.sweep().await.stored, 80);
    assert_eq!(fixture.stored(&acme, mina).await, 80);
    assert_eq!(fixture.metric("ccm_spool_entries"), 0.0);
    assert_eq!(fixture.metric("ccm_spool_oldest_age_seconds"), 0.0);
    assert_eq!(fixture.counted.failed.load(Ordering::SeqCst), 0);
}

// A database that answers and takes no append: a full disk, a replica that was not promoted.
#[tokio::test]
async fn an_hour_of_a_store_that_answers_and_takes_nothing_makes_no_dead_letter() {
    let fixture = Fixture::with_spool().await;
    let (acme, mina) = fixture.acme().await;
    fixture
        .keep(&acme, mina, (0..40).map(|n| format!("k{n}")))
        .await;
    fixture.faults.appends_fail.store(true, Ordering::SeqCst);
    an_hour(&fixture).await;
    let pending = fixture.listed(&acme, OutboxState::Pending).await;
    assert_eq!(pending.len(), 40);
    assert!(pending.iter().all(|entry| entry.attempts == 0));
    fixture.faults.appends_fail.store(false, Ordering::SeqCst);
    fixture.wait(Duration::from_secs(15));
    assert_eq!(fixture.sweep().await.stored, 40);
}

#[tokio::test]
async fn without_a_spool_nothing_is_claimed_while_the_store_is_away() {
    let fixture = Fixture::new().await;
    let (acme, mina) = fixture.acme().await;
    fixture.faults.away.store(true, Ordering::SeqCst);
    let kept = fixture
        .keep(&acme, mina, ["a".to_owned(), "b".to_owned()])
        .await;
    for answer in kept {
        assert!(
            matches!(answer, Err(NotKept::Unavailable { .. })),
            "{answer:?}"
        );
    }
    fixture.faults.away.store(false, Ordering::SeqCst);
    assert_eq!(fixture.sweep().await.stored, 0);
}

#[tokio::test]
async fn a_sweep_that_is_told_to_stop_leaves_the_rest_as_it_was() {
    let fixture = Fixture::with_spool().await;
    let (acme, mina) = fixture.acme().await;
    fixture
        .keep(&acme, mina, (0..200).map(|n| format!("k{n}")))
        .await;
    let stop = tokio_util::sync::CancellationToken::new();
    stop.cancel();
    let report = throughline_append_queue::drain_outbox(&fixture.deps, &stop).await;
    assert_eq!((report.stored, report.unfinished), (0, true));
    assert_eq!(fixture.sweep().await.stored, 200);
}
