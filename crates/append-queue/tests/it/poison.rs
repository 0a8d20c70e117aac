//! What the store will never take, or fails over, is in nobody's way (T-38, failures.md 30).

use std::sync::atomic::Ordering;
use std::time::Duration;

use throughline_conversation_memory::{Outbox, OutboxState, QueuedAuthor};
use throughline_domain::{TenantId, UserId};
use throughline_tenancy::TenantConfig;

use crate::fixture::Fixture;

fn numbered(prefix: &str, count: usize) -> Vec<String> {
    (0..count).map(|n| format!("{prefix}{n}")).collect()
}

#[tokio::test]
async fn a_hundred_refused_entries_do_not_hold_up_a_good_one() {
    let fixture = Fixture::new().await;
    let (acme, mina) = fixture.acme().await;
    let nobody = UserId::from_u128(77);
    fixture.keep(&acme, nobody, numbered("poison", 100)).await;
    fixture.wait(Duration::from_millis(5));
    fixture.keep(&acme, mina, ["good".to_owned()]).await;
    let report = fixture.sweep().await;
    assert_eq!((report.stored, report.dead), (1, 100));
    assert_eq!(fixture.stored(&acme, mina).await, 1);
    let dead = fixture.listed(&acme, OutboxState::DeadLetter).await;
    assert_eq!(dead.len(), 100);
    assert!(
        dead.iter()
            .all(|letter| letter.last_error.as_deref() == Some("unknown_user"))
    );
    assert_eq!(fixture.metric("ccm_outbox_dlq_total"), 100.0);
    assert_eq!(fixture.metric("ccm_outbox_dlq "), 100.0);
    assert_eq!(fixture.counted.failed.load(Ordering::SeqCst), 100);
}

/// A hundred entries of `acme` that `poison` spoils, then one of `other` and one more of `acme`, both good.
async fn a_hundred_before_two_good_ones(
    fixture: &Fixture,
    poison: bool,
) -> [(TenantId, UserId); 2] {
    let acme = fixture.acme().await;
    let other = fixture.tenant("other", TenantConfig::default()).await;
    let poisoned = numbered("poison", 100);
    let author = if poison {
        acme.1
    } else {
        UserId::from_u128(77)
    };
    fixture.faults.poison.lock().extend(poisoned.clone());
    fixture.keep(&acme.0, author, poisoned).await;
    fixture.wait(Duration::from_millis(5));
    fixture.keep(&other.0, other.1, ["good".to_owned()]).await;
    fixture.keep(&acme.0, acme.1, ["behind".to_owned()]).await;
    [acme, other]
}

// failures.md 30: whatever the poison is, what is good is stored within one cycle.
#[tokio::test]
async fn a_hundred_refused_entries_hold_up_neither_another_tenant_nor_what_is_behind_them() {
    let fixture = Fixture::new().await;
    let good = a_hundred_before_two_good_ones(&fixture, false).await;
    fixture.faults.poison.lock().clear();
    let report = fixture.sweep().await;
    assert_eq!((report.stored, report.dead), (2, 100));
    for (tenant, user) in &good {
        assert_eq!(fixture.stored(tenant, *user).await, 1, "{tenant}");
    }
}

// failures.md 30
#[tokio::test]
async fn a_hundred_failing_entries_hold_up_neither_another_tenant_nor_what_is_behind_them() {
    let fixture = Fixture::new().await;
    let good = a_hundred_before_two_good_ones(&fixture, true).await;
    let report = fixture.sweep().await;
    assert_eq!(
        (report.stored, report.waiting, report.away),
        (2, 100, false)
    );
    for (tenant, user) in &good {
        assert_eq!(fixture.stored(tenant, *user).await, 1, "{tenant}");
    }
    // They are charged, for the store took others; nobody else is.
    let waiting = fixture.listed(&good[0].0, OutboxState::Pending).await;
    assert!(waiting.iter().all(|entry| entry.attempts == 1));
}

#[tokio::test]
async fn a_dead_letter_is_stored_after_a_fix_and_a_requeue() {
    let fixture = Fixture::new().await;
    let (acme, mina) = fixture
        .tenant(
            "acme",
            TenantConfig {
                ttl_days: 1,
                ..TenantConfig::default()
            },
        )
        .await;
    fixture.keep(&acme, mina, ["k".to_owned()]).await;
    fixture.wait(Duration::from_hours(25));
    assert_eq!(fixture.sweep().await.dead, 1);
    let dead = fixture.listed(&acme, OutboxState::DeadLetter).await;
    assert_eq!(dead[0].last_error.as_deref(), Some("expired"));
    // The fix: the tenant keeps turns longer.
    use throughline_tenancy::Tenancy as _;
    let config = TenantConfig::default();
    fixture.store.configure(&acme, config, None).await.unwrap();
    fixture.store.requeue(&acme, dead[0].id).await.unwrap();
    assert_eq!(fixture.sweep().await.stored, 1);
    assert_eq!(fixture.stored(&acme, mina).await, 1);
}

// A batch that fails as a whole because of one entry is offered one by one.
#[tokio::test]
async fn an_entry_that_fails_its_whole_batch_is_charged_alone() {
    let fixture = Fixture::new().await;
    let (acme, mina) = fixture.acme().await;
    fixture.keep(&acme, mina, numbered("k", 50)).await;
    fixture.faults.poison.lock().push("k7".to_owned());
    let report = fixture.sweep().await;
    assert_eq!((report.stored, report.waiting, report.dead), (49, 1, 0));
    let left = fixture.listed(&acme, OutboxState::Pending).await;
    assert_eq!((left[0].key.as_str(), left[0].attempts), ("k7", 1));
    assert_eq!(left[0].last_error.as_deref(), Some("transport"));
    // Alone it is charged only when the store takes somebody else.
    for _ in 1..5 {
        fixture.wait(Duration::from_mins(10));
        let key = format!("other{}", fixture.stored(&acme, mina).await);
        fixture.keep(&acme, mina, [key]).await;
        fixture.sweep().await;
    }
    let dead = fixture.listed(&acme, OutboxState::DeadLetter).await;
    assert_eq!((dead[0].key.as_str(), dead[0].attempts), ("k7", 5));
    assert_eq!(fixture.metric("ccm_outbox_dlq_total"), 1.0);
}

// T-37: counted and gone, in the outbox.
#[tokio::test]
async fn entries_of_a_forgotten_user_are_dropped_and_counted() {
    let fixture = Fixture::new().await;
    let (acme, mina) = fixture.acme().await;
    fixture.keep(&acme, mina, numbered("k", 3)).await;
    fixture.faults.gone.lock().push("k1".to_owned());
    let report = fixture.sweep().await;
    assert_eq!((report.stored, report.dropped, report.dead), (2, 1, 0));
    assert_eq!(fixture.listed(&acme, OutboxState::Pending).await, []);
    assert_eq!(fixture.listed(&acme, OutboxState::DeadLetter).await, []);
    assert_eq!(
        fixture.metric("ccm_outbox_drained_total{outcome=\"dropped\"}"),
        1.0
    );
}

// T-15
#[tokio::test]
async fn a_duplicate_counts_nothing() {
    let fixture = Fixture::new().await;
    let (acme, mina) = fixture.acme().await;
    fixture.keep(&acme, mina, ["k".to_owned()]).await;
    let direct = fixture.turn("k", "k").for_user(mina);
    fixture.deps.memory.append(&acme, direct).await.unwrap();
    let report = fixture.sweep().await;
    assert_eq!((report.stored, report.duplicates), (0, 1));
    assert_eq!(fixture.stored(&acme, mina).await, 1);
    assert_eq!(fixture.counted.stored.load(Ordering::SeqCst), 0);
}

// Whatever a newer or a careless caller queued.
#[tokio::test]
async fn an_author_nobody_can_resolve_makes_a_dead_letter() {
    let fixture = Fixture::new().await;
    let (acme, _) = fixture.acme().await;
    let author = throughline_conversation_memory::AuthorRef {
        kind: "telepathy".to_owned(),
        id: "x".to_owned(),
        display_name: None,
        email: None,
        email_verified: None,
        shared: false,
    };
    let append = fixture.append(QueuedAuthor::Ref(author), "k", "hi");
    fixture.store.enqueue(&acme, &append).await.unwrap();
    assert_eq!(fixture.sweep().await.dead, 1);
    let dead = fixture.listed(&acme, OutboxState::DeadLetter).await;
    assert_eq!(dead[0].last_error.as_deref(), Some("invalid_author"));
}

// T-37: as long as the turn would have been kept, two weeks at most.
#[tokio::test]
async fn dead_letters_end_with_their_tenants_rules() {
    let fixture = Fixture::new().await;
    let short = TenantConfig {
        ttl_days: 2,
        ..TenantConfig::default()
    };
    let (brief, _) = fixture.tenant("brief", short).await;
    let (acme, _) = fixture.acme().await;
    for tenant in [&brief, &acme] {
        fixture
            .keep(tenant, UserId::from_u128(7), ["k".to_owned()])
            .await;
    }
    assert_eq!(fixture.sweep().await.dead, 2);
    for (hours, expired) in [(47, 0), (2, 1), (12 * 24, 1), (24, 0)] {
        fixture.wait(Duration::from_hours(hours));
        assert_eq!(
            fixture.sweep().await.expired,
            expired,
            "after {hours} hours more"
        );
    }
}
