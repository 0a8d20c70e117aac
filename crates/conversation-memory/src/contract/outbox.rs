//! An append waits in line until it is settled.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use throughline_domain::{Clock as _, OutboxId, TenantId, UserId, WorkerId};

use super::together::together;
use super::{Subject, turn};
use crate::{
    AuthorRef, Enqueued, Fate, Leased, Outbox, OutboxEntry, OutboxError, OutboxLease, OutboxQuery,
    OutboxSettlement, OutboxState, QueuedAppend, QueuedAuthor, Settled,
};

pub(super) const WORKER: WorkerId = WorkerId::from_u128(1);
pub(super) const OTHER: WorkerId = WorkerId::from_u128(2);
const MINUTE: Duration = Duration::from_mins(1);

/// A provider under test that has an outbox.
pub trait OutboxSubject: Subject {
    /// The provider.
    fn outbox(&self) -> Arc<dyn Outbox>;
}

pub(super) fn queued(subject: &dyn OutboxSubject, user: UserId, key: &str) -> QueuedAppend {
    let new = turn(user, key).pending();
    QueuedAppend::new(QueuedAuthor::User(user), new, subject.clock().now())
}

/// The same, of a channel user nobody has resolved.
pub(super) fn queued_ref(subject: &dyn OutboxSubject, id: &str, key: &str) -> QueuedAppend {
    let new = turn(UserId::from_u128(0), key).pending();
    QueuedAppend::new(
        QueuedAuthor::Ref(channel_user(id)),
        new,
        subject.clock().now(),
    )
}

pub(super) fn channel_user(id: &str) -> AuthorRef {
    AuthorRef {
        kind: "slack-user".to_owned(),
        id: id.to_owned(),
        display_name: None,
        email: None,
        email_verified: None,
        shared: false,
    }
}

/// Keeps an append that is new.
pub(super) async fn keep(
    subject: &dyn OutboxSubject,
    tenant: &TenantId,
    append: &QueuedAppend,
) -> OutboxId {
    match subject.outbox().enqueue(tenant, append).await {
        Ok(Enqueued::New(id)) => id,
        other => panic!("not new: {other:?}"),
    }
}

pub(super) async fn take(
    subject: &dyn OutboxSubject,
    tenant: &TenantId,
    worker: WorkerId,
    limit: u32,
) -> Vec<Leased> {
    let lasts = MINUTE;
    let lease = OutboxLease {
        worker,
        limit,
        lasts,
    };
    subject.outbox().lease(tenant, lease).await.expect("leases")
}

/// Takes everything that is due and settles it so.
pub(super) async fn settle_all(
    subject: &dyn OutboxSubject,
    tenant: &TenantId,
    fate: &Fate,
) -> Settled {
    let taken = take(subject, tenant, WORKER, 100).await;
    settle(subject, tenant, WORKER, &taken, fate).await
}

pub(super) async fn settle(
    subject: &dyn OutboxSubject,
    tenant: &TenantId,
    worker: WorkerId,
    taken: &[Leased],
    fate: &Fate,
) -> Settled {
    let settlement = |leased: &Leased| OutboxSettlement {
        id: leased.id,
        attempts: leased.attempts,
        fate: fate.clone(),
    };
    let settlements: Vec<_> = taken.iter().map(settlement).collect();
    let settled = subject.outbox().settle(tenant, worker, &settlements).await;
    settled.expect("settles")
}

pub(super) async fn listed(
    subject: &dyn OutboxSubject,
    tenant: &TenantId,
    state: OutboxState,
) -> Vec<OutboxEntry> {
    let query = OutboxQuery {
        state,
        after: None,
        limit: 100,
    };
    subject.outbox().list(tenant, query).await.expect("lists")
}

pub(super) fn refused(reason: &str) -> Fate {
    let reason = reason.to_owned();
    Fate::Refused { reason }
}

/// The same append again is the same entry, however often and by whichever name its author comes.
pub async fn an_append_is_kept_once(subject: &dyn OutboxSubject) {
    let acme = subject.tenant("acme", 90).await;
    let mina = subject.user(&acme).await;
    let id = keep(subject, &acme, &queued(subject, mina, "k1")).await;
    subject.clock().advance(MINUTE);
    for again in [queued(subject, mina, "k1"), queued_ref(subject, "U1", "k1")] {
        let answer = subject.outbox().enqueue(&acme, &again).await;
        assert_eq!(answer.expect("kept"), Enqueued::Again(id));
    }
    let pending = listed(subject, &acme, OutboxState::Pending).await;
    assert_eq!(pending.len(), 1);
    assert_eq!((pending[0].id, pending[0].user), (id, Some(mina)));
    assert_eq!((pending[0].key.as_str(), pending[0].attempts), ("k1", 0));
}

/// A key that waits with other words, or for another author, is refused; what waits stays.
pub async fn a_key_that_waits_with_another_turn_is_refused(subject: &dyn OutboxSubject) {
    let acme = subject.tenant("acme", 90).await;
    let (mina, noor) = (subject.user(&acme).await, subject.user(&acme).await);
    let id = keep(subject, &acme, &queued(subject, mina, "k1")).await;
    let words = turn(mina, "k1").saying("other words").pending();
    let now = subject.clock().now();
    let other = [
        QueuedAppend::new(QueuedAuthor::User(mina), words, now),
        queued(subject, noor, "k1"),
    ];
    for append in &other {
        let refused = subject.outbox().enqueue(&acme, append).await;
        assert!(
            matches!(refused, Err(OutboxError::KeyConflict(of)) if of == id),
            "{refused:?}"
        );
    }
    let kept = take(subject, &acme, WORKER, 10).await;
    assert_eq!(kept[0].payload, queued(subject, mina, "k1").encode());
}

/// failures.md 3
pub async fn fifty_callers_with_one_key_keep_one_entry(subject: &dyn OutboxSubject) {
    let acme = subject.tenant("acme", 90).await;
    let mina = subject.user(&acme).await;
    let callers = (0..50).map(|_| {
        let (outbox, acme, append) = (subject.outbox(), acme.clone(), queued(subject, mina, "k"));
        async move { outbox.enqueue(&acme, &append).await.expect("kept") }
    });
    let answers = together(callers.collect()).await;
    let new = answers.iter().filter(|a| matches!(a, Enqueued::New(_)));
    assert_eq!(new.count(), 1);
    let ids: BTreeSet<OutboxId> = answers
        .iter()
        .map(|answer| match answer {
            Enqueued::New(id) | Enqueued::Again(id) | Enqueued::DeadLetter(id) => *id,
        })
        .collect();
    assert_eq!(ids.len(), 1);
    assert_eq!(listed(subject, &acme, OutboxState::Pending).await.len(), 1);
}

/// What is taken is what was handed in, byte for byte, of known and of unresolved authors.
pub async fn an_append_comes_back_as_it_was(subject: &dyn OutboxSubject) {
    let acme = subject.tenant("acme", 90).await;
    let mina = subject.user(&acme).await;
    let number: serde_json::Value = serde_json::from_str("[1.10, 1e400]").expect("JSON");
    let new = turn(mina, "odd \u{1} key")
        .saying("Zürich 🚆 \u{202e}\n")
        .tools(number)
        .canvas("c")
        .pending();
    let now = subject.clock().now();
    let kept = [
        QueuedAppend::new(QueuedAuthor::User(mina), new, now),
        queued_ref(subject, "a:b", "k2"),
    ];
    for append in &kept {
        keep(subject, &acme, append).await;
    }
    let mut taken = take(subject, &acme, WORKER, 10).await;
    taken.sort_by_key(|leased| leased.payload != kept[0].encode());
    let payloads: Vec<&str> = taken.iter().map(|leased| leased.payload.as_str()).collect();
    assert_eq!(payloads, [kept[0].encode(), kept[1].encode()]);
    assert!(QueuedAppend::decode(payloads[0], now).is_ok());
}

/// Older entries come first, as many as are asked for.
pub async fn entries_are_taken_oldest_first(subject: &dyn OutboxSubject) {
    let acme = subject.tenant("acme", 90).await;
    let mina = subject.user(&acme).await;
    let mut ids = Vec::new();
    for n in 0..5 {
        ids.push(keep(subject, &acme, &queued(subject, mina, &n.to_string())).await);
        subject.clock().advance(Duration::from_secs(1));
    }
    let of = |taken: Vec<Leased>| taken.iter().map(|leased| leased.id).collect::<Vec<_>>();
    assert_eq!(of(take(subject, &acme, WORKER, 2).await), ids[..2]);
    assert_eq!(of(take(subject, &acme, WORKER, 9).await), ids[2..]);
}

/// T-18: what one worker holds no other gets, until the lease ends; nobody waits.
pub async fn workers_never_share_an_entry(subject: &dyn OutboxSubject) {
    let acme = subject.tenant("acme", 90).await;
    let mina = subject.user(&acme).await;
    for n in 0..40 {
        keep(subject, &acme, &queued(subject, mina, &n.to_string())).await;
    }
    let workers = (0..8).map(|n| {
        let (outbox, acme) = (subject.outbox(), acme.clone());
        let lease = OutboxLease {
            worker: WorkerId::from_u128(n),
            limit: 10,
            lasts: MINUTE,
        };
        async move { outbox.lease(&acme, lease).await.expect("leases") }
    });
    let mut taken: Vec<OutboxId> = together(workers.collect())
        .await
        .concat()
        .iter()
        .map(|leased| leased.id)
        .collect();
    // Who came while others held rows may have got fewer; nothing was given out twice.
    taken.extend(take(subject, &acme, OTHER, 100).await.iter().map(|l| l.id));
    let distinct: BTreeSet<OutboxId> = taken.iter().copied().collect();
    assert_eq!((taken.len(), distinct.len()), (40, 40));
    subject.clock().advance(MINUTE);
    assert_eq!(take(subject, &acme, WORKER, 100).await.len(), 40);
}

/// Whoever lost the lease changes nothing any more, and is told so.
pub async fn a_settlement_that_comes_too_late_changes_nothing(subject: &dyn OutboxSubject) {
    let acme = subject.tenant("acme", 90).await;
    let mina = subject.user(&acme).await;
    keep(subject, &acme, &queued(subject, mina, "k1")).await;
    let late = take(subject, &acme, WORKER, 1).await;
    subject.clock().advance(MINUTE);
    let taken = take(subject, &acme, OTHER, 1).await;
    for fate in [Fate::Done, refused("x")] {
        let settled = settle(subject, &acme, WORKER, &late, &fate).await;
        assert_eq!(settled, Settled::default());
    }
    let settled = settle(subject, &acme, OTHER, &taken, &Fate::Done).await;
    assert_eq!(settled.done, 1);
    let again = settle(subject, &acme, OTHER, &taken, &Fate::Done).await;
    assert_eq!(again, Settled::default());
}

/// T-16, T-17: four failures wait longer and longer, the fifth makes a dead letter, once.
pub async fn the_fifth_failure_makes_a_dead_letter(subject: &dyn OutboxSubject) {
    let acme = subject.tenant("acme", 90).await;
    let mina = subject.user(&acme).await;
    keep(subject, &acme, &queued(subject, mina, "k1")).await;
    let code = "timeout".to_owned();
    let failed = Fate::Failed {
        code,
        random: 2_000,
    };
    for seconds in [60, 120, 240, 480] {
        let settled = settle_all(subject, &acme, &failed).await;
        assert_eq!((settled.waiting, settled.died), (1, 0));
        subject.clock().advance(Duration::from_secs(seconds - 1));
        assert_eq!(take(subject, &acme, WORKER, 1).await, []);
        subject.clock().advance(Duration::from_secs(1));
    }
    let settled = settle_all(subject, &acme, &failed).await;
    assert_eq!((settled.waiting, settled.died), (0, 1));
    assert_eq!(listed(subject, &acme, OutboxState::Pending).await, []);
    let dead = listed(subject, &acme, OutboxState::DeadLetter).await;
    assert_eq!(dead[0].attempts, 5);
    assert_eq!(dead[0].last_error.as_deref(), Some("timeout"));
    assert_eq!(dead[0].died_at, Some(subject.clock().now()));
    subject.clock().advance(Duration::from_hours(24));
    assert_eq!(take(subject, &acme, WORKER, 1).await, []);
}

/// failures.md 30: what only waited is not charged for it, however long.
pub async fn an_entry_that_only_waits_never_dies(subject: &dyn OutboxSubject) {
    let acme = subject.tenant("acme", 90).await;
    let mina = subject.user(&acme).await;
    keep(subject, &acme, &queued(subject, mina, "k1")).await;
    for _ in 0..360 {
        let next = subject.clock().now().plus(Duration::from_secs(10));
        let settled = settle_all(subject, &acme, &Fate::Postponed(next)).await;
        assert_eq!((settled.waiting, settled.died), (1, 0));
        assert_eq!(take(subject, &acme, WORKER, 1).await, []);
        subject.clock().advance(Duration::from_secs(10));
    }
    let taken = take(subject, &acme, WORKER, 1).await;
    assert_eq!((taken.len(), taken[0].attempts), (1, 0));
}
