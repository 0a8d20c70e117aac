//! What waits to be stored of a person who is erased.

use throughline_conversation_memory::contract::turn;
use throughline_conversation_memory::{
    AuthorRef, OutboxQuery, OutboxState, QueuedAppend, QueuedAuthor,
};
use throughline_domain::{Clock as _, TenantId, UserId};

use super::Subject;
use super::sample::{erase, merge, person, tenant};
use crate::Mode;

/// A channel user of the kind that the samples use.
fn unresolved(id: &str) -> QueuedAuthor {
    QueuedAuthor::Ref(AuthorRef {
        kind: "custom".to_owned(),
        id: id.to_owned(),
        display_name: None,
        email: None,
        email_verified: None,
    })
}

fn append(subject: &dyn Subject, author: QueuedAuthor, key: &str) -> QueuedAppend {
    let said = turn(UserId::from_u128(0), key).pending();
    QueuedAppend::new(author, said, subject.clock().now())
}

async fn keep(subject: &dyn Subject, tenant: &TenantId, author: QueuedAuthor, key: &str) {
    let append = append(subject, author, key);
    let kept = subject.outbox().enqueue(tenant, &append).await;
    kept.expect("kept");
}

async fn keys(subject: &dyn Subject, tenant: &TenantId, state: OutboxState) -> Vec<String> {
    let query = OutboxQuery {
        state,
        after: None,
        limit: 100,
    };
    let listed = subject.outbox().list(tenant, query).await.expect("lists");
    let keys = listed.iter().map(|entry| entry.key.as_str().to_owned());
    keys.collect()
}

/// T-37: an append that waits under any id or channel user of the person, in line or dead, goes in the
/// same step and is counted once; a rehearsal counts the same and leaves it.
pub async fn what_waits_of_an_erased_person_goes_with_them(subject: &dyn Subject) {
    let acme = tenant(subject, "acme").await;
    let corp = tenant(subject, "acme-corp").await;
    let mina = person(subject, &acme, "mina", 1).await;
    let other = person(subject, &acme, "other", 1).await;
    let noor = person(subject, &acme, "noor", 1).await;
    merge(subject, &acme, mina, other).await.expect("merged");
    keep(subject, &acme, QueuedAuthor::User(mina), "resolved").await;
    keep(subject, &acme, QueuedAuthor::User(other), "by-alias").await;
    keep(subject, &acme, unresolved("other"), "unresolved").await;
    keep(subject, &acme, QueuedAuthor::User(noor), "hers").await;
    keep(subject, &acme, unresolved("noor"), "hers-too").await;
    keep(subject, &corp, unresolved("mina"), "elsewhere").await;
    let dead = append(subject, unresolved("mina"), "dead");
    let buried = subject.outbox().bury(&acme, &dead, "expired").await;
    buried.expect("kept");

    let rehearsed = erase(subject, &acme, mina, Mode::Rehearse).await;
    let rehearsed = rehearsed.expect("counted").counts;
    assert_eq!(rehearsed.deleted_outbox, 4);
    assert_eq!(keys(subject, &acme, OutboxState::Pending).await.len(), 5);
    let erased = erase(subject, &acme, mina, Mode::Erase).await;
    assert_eq!(erased.expect("erased").counts, rehearsed);

    let mut left = keys(subject, &acme, OutboxState::Pending).await;
    left.sort_unstable();
    assert_eq!(left, ["hers", "hers-too"]);
    assert_eq!(keys(subject, &acme, OutboxState::DeadLetter).await, [""; 0]);
    assert_eq!(
        keys(subject, &corp, OutboxState::Pending).await,
        ["elsewhere"]
    );
}
