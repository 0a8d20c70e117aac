//! What waits while people are merged, parted and erased, and is stored then.

use std::time::Duration;

use throughline_conversation_memory::{
    Fate, Leased, OutboxLease, OutboxSettlement, QueuedAppend, QueuedAuthor,
};
use throughline_domain::{Clock as _, MergeId, TenantId, WorkerId};
use throughline_platform_identity::IdentityError;

use super::Subject;
use super::sample::{
    assert_counted, custom, erase, is_gone, merge, operator, person, say, tenant, words,
};
use super::waiting::{keep, unresolved};
use crate::Mode;

const WORKER: WorkerId = WorkerId::from_u128(1);
/// Races of one run.
const ROUNDS: usize = 100;

/// As the sweep does it: who it is, is asked as of when it came; an account stays an account, and the
/// append's fence finds the survivor. Answers how many were stored, and how many are gone.
async fn drain(subject: &dyn Subject, tenant: &TenantId) -> (usize, usize) {
    let outbox = subject.outbox();
    let lease = OutboxLease {
        worker: WORKER,
        limit: 100,
        lasts: Duration::from_mins(1),
    };
    let leased = outbox.lease(tenant, lease).await.expect("taken");
    let (mut stored, mut gone) = (0, 0);
    for entry in leased {
        if offer(subject, tenant, &entry).await {
            stored += 1;
        } else {
            gone += 1;
        }
        let done = OutboxSettlement {
            id: entry.id,
            attempts: entry.attempts,
            fate: Fate::Done,
        };
        let settled = outbox.settle(tenant, WORKER, &[done]).await;
        settled.expect("settled");
    }
    (stored, gone)
}

/// Whether it was stored; else it is gone.
async fn offer(subject: &dyn Subject, tenant: &TenantId, entry: &Leased) -> bool {
    let append = QueuedAppend::decode(&entry.payload, entry.created_at).expect("a document");
    let user = match append.author() {
        QueuedAuthor::User(user) => *user,
        QueuedAuthor::Ref(author) => {
            let (who, at) = (custom(&author.id), append.queued_at());
            let found = subject.identity().resolve_queued(tenant, &who, at).await;
            match found {
                Ok(found) => found.account_id,
                Err(IdentityError::Gone) => return false,
                Err(error) => panic!("{error}"),
            }
        }
    };
    let appended = subject.memory().append(tenant, append.said_by(user)).await;
    assert!(appended.is_ok() || is_gone(&appended), "{appended:?}");
    appended.is_ok()
}

async fn undo(subject: &dyn Subject, tenant: &TenantId, merge: MergeId) {
    let identity = subject.identity();
    let undone = identity.undo_merge(tenant, merge, &operator()).await;
    undone.expect("undone");
}

/// D-16: what was queued for somebody who is merged away before it is stored is read by the survivor,
/// and goes back when the merge is undone; the row in the outbox keeps the account it came through.
pub async fn what_waits_through_a_merge_goes_where_its_account_goes(subject: &dyn Subject) {
    let acme = tenant(subject, "acme").await;
    let mina = person(subject, &acme, "mina", 1).await;
    let other = person(subject, &acme, "other", 0).await;
    keep(subject, &acme, QueuedAuthor::User(other), "by-id").await;
    keep(subject, &acme, unresolved("other"), "by-ref").await;
    keep(subject, &acme, QueuedAuthor::User(mina), "hers").await;
    let merged = merge(subject, &acme, mina, other).await.expect("merged");
    assert_eq!(drain(subject, &acme).await, (3, 0));
    assert_eq!(words(subject, &acme, mina).await.len(), 4);
    assert_counted(subject, &acme, mina).await;

    undo(subject, &acme, merged.merge_id).await;
    assert_eq!(words(subject, &acme, mina).await.len(), 2);
    assert_eq!(words(subject, &acme, other).await.len(), 2);
    for user in [mina, other] {
        assert_counted(subject, &acme, user).await;
    }
}

/// A merge that comes and goes while a turn waits leaves no trace on it.
pub async fn what_waits_through_a_merge_and_its_undoing_is_its_accounts(subject: &dyn Subject) {
    let acme = tenant(subject, "acme").await;
    let mina = person(subject, &acme, "mina", 1).await;
    let other = person(subject, &acme, "other", 0).await;
    keep(subject, &acme, QueuedAuthor::User(other), "by-id").await;
    keep(subject, &acme, unresolved("other"), "by-ref").await;
    let merged = merge(subject, &acme, mina, other).await.expect("merged");
    undo(subject, &acme, merged.merge_id).await;
    assert_eq!(drain(subject, &acme).await, (2, 0));
    assert_eq!(words(subject, &acme, mina).await.len(), 1);
    assert_eq!(words(subject, &acme, other).await.len(), 2);
}

/// T-37: an erasure finds what waits under any account of the person, in whichever order they became
/// one; what is drained in between is erased with the rest.
pub async fn what_waits_through_a_merge_is_erased_with_the_survivor(subject: &dyn Subject) {
    let acme = tenant(subject, "acme").await;
    let mina = person(subject, &acme, "mina", 1).await;
    let other = person(subject, &acme, "other", 1).await;
    keep(subject, &acme, QueuedAuthor::User(other), "by-id").await;
    merge(subject, &acme, mina, other).await.expect("merged");
    keep(subject, &acme, unresolved("other"), "by-ref").await;
    let erased = erase(subject, &acme, mina, Mode::Erase).await;
    assert_eq!(erased.expect("erased").counts.deleted_outbox, 2);
    assert_eq!(drain(subject, &acme).await, (0, 0));
    assert!(is_gone(&say(subject, &acme, other, "late").await));
}

/// failures.md 15: who is drained while they are erased is stored before and erased, or gone: they are
/// never made anew.
pub async fn a_drain_never_outlives_an_erasure(subject: &dyn Subject) {
    let acme = tenant(subject, "acme").await;
    for round in 0..ROUNDS {
        let name = format!("racer-{round}");
        let user = person(subject, &acme, &name, 0).await;
        let queued_at = subject.clock().now();
        subject.clock().advance(Duration::from_millis(1));
        let drained = async {
            for _ in 0..round % 4 {
                tokio::task::yield_now().await;
            }
            let (identity, who) = (subject.identity(), custom(&name));
            match identity.resolve_queued(&acme, &who, queued_at).await {
                Ok(found) => {
                    let appended = say(subject, &acme, found.account_id, &name).await;
                    assert!(appended.is_ok() || is_gone(&appended), "{appended:?}");
                }
                Err(error) => assert!(matches!(error, IdentityError::Gone), "{error}"),
            }
        };
        let ((), erased) = tokio::join!(drained, erase(subject, &acme, user, Mode::Erase));
        erased.expect("erased");
        let found = subject.identity().lookup(&acme, &custom(&name).id).await;
        assert_eq!(found.expect("reads"), None, "round {round}");
        assert_eq!(words(subject, &acme, user).await, [""; 0]);
    }
}
