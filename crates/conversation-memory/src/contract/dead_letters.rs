//! A dead letter can be read, replayed and thrown away; nothing crosses from one tenant to another.

use std::time::Duration;

use throughline_domain::{Clock as _, OutboxId, TenantId, UserId};

use super::outbox::{
    OTHER, OutboxSubject, WORKER, channel_user, keep, listed, queued, queued_ref, refused, settle,
    settle_all, take,
};
use crate::{
    DueTenants, Enqueued, Fate, OutboxError, OutboxQuery, OutboxState, OutboxStats, Settled,
};

/// Two tenants whose names glue alike, with a user each.
async fn two(subject: &dyn OutboxSubject) -> [(TenantId, UserId); 2] {
    let acme = subject.tenant("acme", 90).await;
    let corp = subject.tenant("acme-corp", 90).await;
    let (mina, noor) = (subject.user(&acme).await, subject.user(&corp).await);
    [(acme, mina), (corp, noor)]
}

async fn dead(subject: &dyn OutboxSubject, tenant: &TenantId, user: UserId, key: &str) -> OutboxId {
    let id = keep(subject, tenant, &queued(subject, user, key)).await;
    let settled = settle_all(subject, tenant, &refused("unknown_user")).await;
    assert_eq!(settled.died, 1);
    id
}

/// T-38: a refusal is final at first sight, and says why.
pub async fn a_refused_entry_is_a_dead_letter_with_its_reason(subject: &dyn OutboxSubject) {
    let [(acme, mina), _] = two(subject).await;
    let id = dead(subject, &acme, mina, "k1").await;
    let letters = listed(subject, &acme, OutboxState::DeadLetter).await;
    assert_eq!((letters[0].id, letters[0].attempts), (id, 1));
    assert_eq!(letters[0].last_error.as_deref(), Some("unknown_user"));
    assert_eq!(take(subject, &acme, WORKER, 10).await, []);
    let again = subject
        .outbox()
        .enqueue(&acme, &queued(subject, mina, "k1"))
        .await;
    assert_eq!(again.expect("known"), Enqueued::DeadLetter(id));
}

/// Requeued, it is due at once and starts counting anew; only dead letters can be.
pub async fn a_requeued_dead_letter_is_tried_at_once(subject: &dyn OutboxSubject) {
    let [(acme, mina), _] = two(subject).await;
    let id = dead(subject, &acme, mina, "k1").await;
    let entry = subject.outbox().requeue(&acme, id).await.expect("answers");
    let entry = entry.expect("a dead letter");
    assert_eq!((entry.state, entry.attempts), (OutboxState::Pending, 0));
    assert_eq!(entry.died_at, None);
    let taken = take(subject, &acme, WORKER, 10).await;
    assert_eq!((taken[0].id, taken[0].attempts), (id, 0));
    for _ in 0..2 {
        assert_eq!(
            subject.outbox().requeue(&acme, id).await.expect("answers"),
            None
        );
        assert_eq!(
            subject.outbox().discard(&acme, id).await.expect("answers"),
            None
        );
    }
    assert_eq!(
        settle(subject, &acme, WORKER, &taken, &Fate::Done)
            .await
            .done,
        1
    );
}

/// Discarded, it is gone and its key is free again.
pub async fn a_discarded_dead_letter_is_gone(subject: &dyn OutboxSubject) {
    let [(acme, mina), _] = two(subject).await;
    let id = dead(subject, &acme, mina, "k1").await;
    let gone = subject.outbox().discard(&acme, id).await.expect("answers");
    assert_eq!(gone.map(|entry| entry.id), Some(id));
    assert_eq!(
        subject.outbox().discard(&acme, id).await.expect("answers"),
        None
    );
    assert_eq!(listed(subject, &acme, OutboxState::DeadLetter).await, []);
    assert_ne!(keep(subject, &acme, &queued(subject, mina, "k1")).await, id);
}

/// What was refused elsewhere is a dead letter here; one that waits here already goes on waiting.
pub async fn an_append_can_be_buried(subject: &dyn OutboxSubject) {
    let [(acme, mina), _] = two(subject).await;
    let outbox = subject.outbox();
    let append = queued_ref(subject, "U1", "k1");
    let buried = outbox.bury(&acme, &append, "expired").await;
    let Ok(Enqueued::New(id)) = buried else {
        panic!("{buried:?}")
    };
    let again = outbox.bury(&acme, &append, "gone").await;
    assert_eq!(again.expect("known"), Enqueued::DeadLetter(id));
    let letters = listed(subject, &acme, OutboxState::DeadLetter).await;
    assert_eq!((letters.len(), letters[0].user), (1, None));
    assert_eq!(letters[0].last_error.as_deref(), Some("expired"));
    assert_eq!(take(subject, &acme, WORKER, 10).await, []);
    let waiting = keep(subject, &acme, &queued(subject, mina, "k2")).await;
    let answer = outbox.bury(&acme, &queued(subject, mina, "k2"), "x").await;
    assert_eq!(answer.expect("known"), Enqueued::Again(waiting));
}

/// T-37: dead letters are not kept for ever, and only those that died long enough ago go.
pub async fn old_dead_letters_expire(subject: &dyn OutboxSubject) {
    let [(acme, mina), (corp, noor)] = two(subject).await;
    dead(subject, &acme, mina, "old").await;
    dead(subject, &corp, noor, "old").await;
    subject.clock().advance(Duration::from_hours(1));
    let edge = subject.clock().now();
    let young = dead(subject, &acme, mina, "young").await;
    keep(subject, &acme, &queued(subject, mina, "waits")).await;
    let outbox = subject.outbox();
    let due = outbox.tenants(DueTenants::Expire(edge), None, 10).await;
    assert_eq!(due.expect("names"), [acme.clone(), corp.clone()]);
    assert_eq!(outbox.expire(&acme, edge, 100).await.expect("expires"), 1);
    assert_eq!(outbox.expire(&acme, edge, 100).await.expect("expires"), 0);
    let left = listed(subject, &acme, OutboxState::DeadLetter).await;
    assert_eq!(left.iter().map(|l| l.id).collect::<Vec<_>>(), [young]);
    assert_eq!(listed(subject, &acme, OutboxState::Pending).await.len(), 1);
    let due = outbox.tenants(DueTenants::Expire(edge), None, 10).await;
    assert_eq!(due.expect("names"), [corp]);
}

/// T-37: nothing of a deleted person stays, in line or dead, resolved or not; nothing else goes.
pub async fn everything_of_one_person_can_be_deleted(subject: &dyn OutboxSubject) {
    let [(acme, mina), (corp, _)] = two(subject).await;
    let zoe = subject.user(&acme).await;
    dead(subject, &acme, mina, "dead").await;
    keep(subject, &acme, &queued(subject, mina, "waits")).await;
    keep(subject, &acme, &queued_ref(subject, "U1", "unresolved")).await;
    keep(subject, &acme, &queued(subject, zoe, "hers")).await;
    keep(subject, &acme, &queued_ref(subject, "u1", "another")).await;
    keep(subject, &corp, &queued_ref(subject, "U1", "elsewhere")).await;
    let outbox = subject.outbox();
    assert_eq!(outbox.forget(&acme, &[], &[]).await.expect("answers"), 0);
    let gone = outbox.forget(&acme, &[mina], &[channel_user("U1")]).await;
    assert_eq!(gone.expect("deletes"), 3);
    let mut left: Vec<String> = listed(subject, &acme, OutboxState::Pending)
        .await
        .into_iter()
        .map(|entry| entry.key.as_str().to_owned())
        .collect();
    left.sort_unstable();
    assert_eq!(left, ["another", "hers"]);
    assert_eq!(listed(subject, &acme, OutboxState::DeadLetter).await, []);
    assert_eq!(listed(subject, &corp, OutboxState::Pending).await.len(), 1);
}

/// failures.md 9 and 10: one key in two tenants is two entries, and no call reaches the other's.
pub async fn entries_belong_to_their_tenant(subject: &dyn OutboxSubject) {
    let [(acme, mina), (corp, noor)] = two(subject).await;
    let outbox = subject.outbox();
    let ours = keep(subject, &acme, &queued(subject, mina, "k1")).await;
    keep(subject, &corp, &queued(subject, noor, "k1")).await;
    let taken = take(subject, &acme, WORKER, 10).await;
    assert_eq!(taken.iter().map(|l| l.id).collect::<Vec<_>>(), [ours]);
    for fate in [Fate::Done, refused("x")] {
        let settled = settle(subject, &corp, WORKER, &taken, &fate).await;
        assert_eq!(settled, Settled::default());
    }
    assert_eq!(
        settle(subject, &acme, WORKER, &taken, &refused("x"))
            .await
            .died,
        1
    );
    assert_eq!(outbox.requeue(&corp, ours).await.expect("answers"), None);
    assert_eq!(outbox.discard(&corp, ours).await.expect("answers"), None);
    let far = subject.clock().now().plus(Duration::from_hours(1));
    assert_eq!(outbox.expire(&corp, far, 10).await.expect("expires"), 0);
    assert_eq!(
        outbox.forget(&corp, &[mina], &[]).await.expect("deletes"),
        0
    );
    assert_eq!(
        listed(subject, &acme, OutboxState::DeadLetter).await.len(),
        1
    );
    assert_eq!(listed(subject, &corp, OutboxState::Pending).await.len(), 1);
    assert_eq!(listed(subject, &corp, OutboxState::DeadLetter).await, []);
}

/// A tenant that is not there keeps nothing, and says so.
pub async fn an_unknown_tenant_keeps_nothing(subject: &dyn OutboxSubject) {
    let [(acme, mina), _] = two(subject).await;
    let nobody = TenantId::parse("acme_corp").expect("a plain name");
    let append = queued(subject, mina, "k1");
    for answer in [
        subject.outbox().enqueue(&nobody, &append).await,
        subject.outbox().bury(&nobody, &append, "x").await,
    ] {
        assert!(
            matches!(&answer, Err(OutboxError::UnknownTenant(id)) if *id == nobody),
            "{answer:?}"
        );
    }
    assert_eq!(listed(subject, &acme, OutboxState::Pending).await, []);
    let query = OutboxQuery {
        state: OutboxState::Pending,
        after: None,
        limit: 1,
    };
    let listed = subject.outbox().list(&nobody, query).await;
    assert!(
        matches!(listed, Err(OutboxError::UnknownTenant(_))),
        "{listed:?}"
    );
}

/// Tenants are named while they have something due, page by page in name order.
pub async fn tenants_with_due_entries_are_named(subject: &dyn OutboxSubject) {
    let [(acme, mina), (corp, noor)] = two(subject).await;
    subject.tenant("zeta", 90).await;
    let outbox = subject.outbox();
    let due = async |after| {
        let named = outbox.tenants(DueTenants::Append, after, 10).await;
        named.expect("names")
    };
    assert_eq!(due(None).await, []);
    keep(subject, &corp, &queued(subject, noor, "k1")).await;
    keep(subject, &acme, &queued(subject, mina, "k1")).await;
    keep(subject, &acme, &queued(subject, mina, "k2")).await;
    assert_eq!(due(None).await, [acme.clone(), corp.clone()]);
    assert_eq!(due(Some(&acme)).await, std::slice::from_ref(&corp));
    assert_eq!(
        outbox
            .tenants(DueTenants::Append, None, 1)
            .await
            .expect("names"),
        std::slice::from_ref(&acme)
    );
    take(subject, &acme, OTHER, 10).await;
    assert_eq!(due(None).await, std::slice::from_ref(&corp));
    settle_all(subject, &corp, &refused("x")).await;
    assert_eq!(due(None).await, []);
    subject.clock().advance(Duration::from_mins(1));
    assert_eq!(due(None).await, [acme]);
}

/// A list goes on after any entry, in the order they came.
pub async fn a_list_goes_on_after_any_entry(subject: &dyn OutboxSubject) {
    let [(acme, mina), _] = two(subject).await;
    let mut ids = Vec::new();
    for n in 0..7 {
        ids.push(keep(subject, &acme, &queued(subject, mina, &n.to_string())).await);
        subject.clock().advance(Duration::from_millis(2));
    }
    let mut read = Vec::new();
    loop {
        let query = OutboxQuery {
            state: OutboxState::Pending,
            after: read.last().copied(),
            limit: 3,
        };
        let page = subject.outbox().list(&acme, query).await.expect("lists");
        if page.is_empty() {
            break;
        }
        read.extend(page.iter().map(|entry| entry.id));
    }
    assert_eq!(read, ids);
}

/// The figures are over all tenants.
pub async fn the_figures_are_over_everybody(subject: &dyn OutboxSubject) {
    let [(acme, mina), (corp, noor)] = two(subject).await;
    let outbox = subject.outbox();
    assert_eq!(
        outbox.stats().await.expect("counts"),
        OutboxStats::default()
    );
    let first = subject.clock().now();
    keep(subject, &acme, &queued(subject, mina, "k1")).await;
    subject.clock().advance(Duration::from_mins(1));
    let second = subject.clock().now();
    dead(subject, &corp, noor, "k1").await;
    keep(subject, &corp, &queued(subject, noor, "k2")).await;
    let expected = OutboxStats {
        pending: 2,
        dead: 1,
        oldest_pending: Some(first),
        oldest_dead: Some(second),
    };
    assert_eq!(outbox.stats().await.expect("counts"), expected);
}
