//! Nothing that waited for somebody comes back after they were erased, wherever it waited (T-37,
//! failures.md 15).

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use throughline_append_queue::SpooledErasure;
use throughline_conversation_memory::{AppendQueue, OutboxState, QueuedAuthor};
use throughline_domain::{Actor, TenantId, UserId};
use throughline_erasure::{Erasure, Mode, Receipt, TOMBSTONE_LIFE};
use throughline_platform_identity::{PlatformIdentity, PlatformKind, PlatformUserId};
use throughline_tenancy::TenantConfig;

use crate::fixture::Fixture;
use crate::spooled::named;

/// Queues an append of a channel user whom nobody could be asked about.
async fn queue(fixture: &Fixture, tenant: &TenantId, name: &str, key: &str) {
    let append = fixture.append(named(name), key, key);
    let kept = fixture.keeper.keep(tenant, vec![append]).await;
    assert!(kept.iter().all(Result::is_ok), "{kept:?}");
}

fn operator() -> Actor {
    Actor::parse("olga").unwrap()
}

/// In the store alone, as another process does it.
async fn erase(fixture: &Fixture, tenant: &TenantId, user: UserId) -> Receipt {
    let operator = operator();
    let erased = fixture.store.erase(tenant, user, &operator, Mode::Erase);
    erased.await.unwrap()
}

async fn known(fixture: &Fixture, tenant: &TenantId, name: &str) -> Option<UserId> {
    let id = PlatformUserId::new(PlatformKind::Custom, name).unwrap();
    fixture.store.lookup(tenant, &id).await.unwrap()
}

#[tokio::test]
async fn what_waited_in_a_spool_of_an_erased_channel_user_is_dropped() {
    let fixture = Fixture::with_spool().await;
    let (acme, mina) = fixture.acme().await;
    fixture.faults.away.store(true, Ordering::SeqCst);
    queue(&fixture, &acme, "mina", "old").await;
    fixture.wait(Duration::from_secs(1));
    erase(&fixture, &acme, mina).await;
    fixture.wait(Duration::from_secs(1));
    queue(&fixture, &acme, "noor", "hers").await;
    fixture.faults.away.store(false, Ordering::SeqCst);

    let report = fixture.sweep().await;
    assert_eq!((report.stored, report.dropped, report.dead), (1, 1, 0));
    assert_eq!(known(&fixture, &acme, "mina").await, None);
    assert_eq!(fixture.metric("ccm_spool_entries"), 0.0);
    assert_eq!(
        fixture.metric("ccm_outbox_drained_total{outcome=\"dropped\"}"),
        1.0
    );
}

#[tokio::test]
async fn a_fresh_message_that_waits_after_an_erasure_makes_a_new_person() {
    let fixture = Fixture::with_spool().await;
    let (acme, mina) = fixture.acme().await;
    fixture.faults.away.store(true, Ordering::SeqCst);
    queue(&fixture, &acme, "mina", "old").await;
    fixture.wait(Duration::from_secs(1));
    erase(&fixture, &acme, mina).await;
    fixture.wait(Duration::from_secs(1));
    queue(&fixture, &acme, "mina", "fresh").await;
    fixture.faults.away.store(false, Ordering::SeqCst);

    let report = fixture.sweep().await;
    assert_eq!((report.stored, report.dropped), (1, 1));
    let again = known(&fixture, &acme, "mina").await.unwrap();
    assert_ne!(again, mina);
    assert_eq!(fixture.stored(&acme, again).await, 1);
}

/// An entry can get into the table behind an erasure that looked a moment before.
#[tokio::test]
async fn what_got_into_the_outbox_behind_an_erasure_is_dropped_too() {
    let fixture = Fixture::new().await;
    let (acme, mina) = fixture.acme().await;
    let late = fixture.append(named("mina"), "old", "old");
    fixture.wait(Duration::from_secs(1));
    erase(&fixture, &acme, mina).await;
    fixture.wait(Duration::from_secs(1));
    let kept = fixture.keeper.keep(&acme, vec![late]).await;
    assert!(kept.iter().all(Result::is_ok), "{kept:?}");
    assert_eq!(fixture.sweep().await.dropped, 1);
    assert_eq!(known(&fixture, &acme, "mina").await, None);
    assert_eq!(fixture.listed(&acme, OutboxState::DeadLetter).await, []);
}

/// After that long nobody remembers who was erased: it is for an operator to look at.
#[tokio::test]
async fn an_unresolved_author_who_waited_longer_than_an_erasure_is_remembered_is_not_made() {
    let fixture = Fixture::with_spool().await;
    let (acme, _) = fixture.acme().await;
    fixture.faults.away.store(true, Ordering::SeqCst);
    queue(&fixture, &acme, "noor", "old").await;
    fixture.wait(TOMBSTONE_LIFE);
    fixture.faults.away.store(false, Ordering::SeqCst);
    let report = fixture.sweep().await;
    assert_eq!((report.stored, report.dead), (0, 1));
    assert_eq!(known(&fixture, &acme, "noor").await, None);
    let dead = fixture.listed(&acme, OutboxState::DeadLetter).await;
    assert_eq!(
        dead[0].last_error.as_deref(),
        Some("author_waited_too_long")
    );
}

#[tokio::test]
async fn an_erasure_takes_along_what_waits_on_this_disk_and_a_rehearsal_counts_it() {
    let fixture = Fixture::with_spool().await;
    let (acme, mina) = fixture.acme().await;
    let (corp, _) = fixture.tenant("acme-corp", TenantConfig::default()).await;
    fixture.faults.away.store(true, Ordering::SeqCst);
    queue(&fixture, &acme, "mina", "by-ref").await;
    let by_id = fixture.append(QueuedAuthor::User(mina), "by-id", "by-id");
    fixture.keeper.keep(&acme, vec![by_id]).await;
    queue(&fixture, &acme, "noor", "hers").await;
    queue(&fixture, &corp, "mina", "elsewhere").await;
    let erasure = SpooledErasure::new(
        fixture.store.clone(),
        fixture.store.clone(),
        fixture.deps.spool.clone().unwrap(),
    );
    let run = async |mode| {
        let receipt = erasure.erase(&acme, mina, &operator(), mode).await.unwrap();
        receipt.counts
    };
    let rehearsed = run(Mode::Rehearse).await;
    assert_eq!(rehearsed.deleted_spooled, 2);
    assert_eq!(fixture.metric("ccm_spool_entries"), 4.0);
    assert_eq!(run(Mode::Erase).await, rehearsed);
    assert_eq!(fixture.metric("ccm_spool_entries"), 2.0);
    assert_eq!(run(Mode::Erase).await.deleted_spooled, 0);
}

/// The store's word counts; a disk that cannot be read ends nothing.
#[tokio::test]
async fn an_erasure_stands_when_the_spool_cannot_be_read() {
    let fixture = Fixture::with_spool().await;
    let (acme, mina) = fixture.acme().await;
    let spool = fixture.deps.spool.clone().unwrap();
    spool.close().await.unwrap();
    let store = Arc::clone(&fixture.store);
    let erasure = SpooledErasure::new(store.clone(), store, spool);
    let erased = erasure.erase(&acme, mina, &operator(), Mode::Erase).await;
    assert_eq!(erased.unwrap().counts.deleted_identities, 1);
}
