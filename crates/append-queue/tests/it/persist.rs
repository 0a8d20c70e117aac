//! In a tenant that keeps masked text only, only masked text waits in the store (T-30).

use std::sync::atomic::Ordering;
use std::time::Duration;

use throughline_conversation_memory::{
    ContentForm, ConversationMemory, Outbox, OutboxLease, OutboxState, QueuedAuthor, RecentQuery,
    RedactionState,
};
use throughline_domain::WorkerId;
use throughline_tenancy::{RedactionMode, TenantConfig};

use crate::fixture::Fixture;

const WORDS: &str = "write to mina@example.org";

fn persisting() -> TenantConfig {
    TenantConfig {
        redaction_mode: RedactionMode::Persist,
        ..TenantConfig::default()
    }
}

#[tokio::test]
async fn no_unmasked_word_waits_in_the_store() {
    let fixture = Fixture::with_spool().await;
    let (acme, mina) = fixture.tenant("acme", persisting()).await;
    let append = fixture.append(QueuedAuthor::User(mina), "k", WORDS);
    fixture.deps.outbox.enqueue(&acme, &append).await.unwrap();
    let lease = OutboxLease {
        worker: WorkerId::from_u128(9),
        limit: 1,
        lasts: Duration::from_secs(1),
    };
    let waiting = fixture.store.lease(&acme, lease).await.unwrap();
    assert!(!waiting[0].payload.contains("mina@example.org"));
    // The same append again is the same entry, though what waits reads differently.
    fixture.deps.outbox.enqueue(&acme, &append).await.unwrap();
    assert_eq!(fixture.listed(&acme, OutboxState::Pending).await.len(), 1);

    fixture.wait(Duration::from_secs(2));
    assert_eq!(fixture.sweep().await.stored, 1);
    let query = RecentQuery::default();
    let stored = fixture.store.recent(&acme, mina, &query).await.unwrap();
    let turn = &stored.turns[0];
    assert!(!turn.user_message.contains("mina@example.org"));
    assert_eq!(turn.form, ContentForm::Masked);
    assert_eq!(turn.redaction.state(), RedactionState::Redacted);
    // And a retry with the original words is known as one.
    let again = fixture.turn("k", WORDS).for_user(mina);
    let again = fixture.deps.memory.append(&acme, again).await.unwrap();
    assert_eq!(again.turn_id, turn.id);
}

// The rules cannot be asked for: the words wait sealed, and are masked when they are stored or buried.
#[tokio::test]
async fn what_waited_sealed_is_masked_on_its_way_out() {
    let fixture = Fixture::with_spool().await;
    let (acme, mina) = fixture.tenant("acme", persisting()).await;
    fixture.faults.away.store(true, Ordering::SeqCst);
    for (author, key) in [
        (mina, "good"),
        (throughline_domain::UserId::from_u128(7), "bad"),
    ] {
        use throughline_conversation_memory::AppendQueue as _;
        let append = fixture.append(QueuedAuthor::User(author), key, WORDS);
        let kept = fixture.keeper.keep(&acme, vec![append]).await;
        assert!(kept[0].is_ok(), "{kept:?}");
    }
    fixture.faults.away.store(false, Ordering::SeqCst);
    let report = fixture.sweep().await;
    assert_eq!((report.stored, report.dead), (1, 1));
    let query = RecentQuery::default();
    let stored = fixture.store.recent(&acme, mina, &query).await.unwrap();
    assert!(!stored.turns[0].user_message.contains("mina@example.org"));
    let dead = fixture.listed(&acme, OutboxState::DeadLetter).await;
    fixture.store.requeue(&acme, dead[0].id).await.unwrap();
    let lease = OutboxLease {
        worker: WorkerId::from_u128(9),
        limit: 1,
        lasts: Duration::from_secs(1),
    };
    let waiting = fixture.store.lease(&acme, lease).await.unwrap();
    assert!(!waiting[0].payload.contains("mina@example.org"));
}
