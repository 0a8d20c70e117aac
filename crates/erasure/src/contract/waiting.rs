//! What waits to be stored of a person who is erased.

use std::time::Duration;

use throughline_conversation_memory::contract::turn;
use throughline_conversation_memory::{
    AuthorRef, Chunk, OutboxQuery, OutboxState, Pass, QueuedAppend, QueuedAuthor,
};
use throughline_domain::{Clock as _, TenantId, Timestamp, UserId};
use throughline_platform_identity::{IdentityError, Resolved};

use super::sample::{custom, erase, is_gone, merge, person, say, seen, snapshot, tenant};
use super::{Subject, SweptSubject};
use crate::{Mode, TOMBSTONE_LIFE};

/// A channel user of the kind that the samples use.
pub(super) fn unresolved(id: &str) -> QueuedAuthor {
    QueuedAuthor::Ref(AuthorRef {
        kind: "custom".to_owned(),
        id: id.to_owned(),
        display_name: None,
        email: None,
        email_verified: None,
        shared: false,
    })
}

fn append(subject: &dyn Subject, author: QueuedAuthor, key: &str) -> QueuedAppend {
    let said = turn(UserId::from_u128(0), key).build();
    QueuedAppend::new(author, said, subject.clock().now())
}

pub(super) async fn keep(
    subject: &dyn Subject,
    tenant: &TenantId,
    author: QueuedAuthor,
    key: &str,
) {
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

/// T-57: what was accepted to wait is not made anew by a client that repeats it after the erasure; the
/// key of a stored turn that also waits is counted once.
pub async fn a_key_that_waited_is_refused_after_the_erasure(subject: &dyn Subject) {
    let acme = tenant(subject, "acme").await;
    let mina = person(subject, &acme, "mina", 1).await;
    let noor = person(subject, &acme, "noor", 0).await;
    keep(subject, &acme, unresolved("mina"), "waits").await;
    keep(subject, &acme, QueuedAuthor::User(mina), "waits-too").await;
    keep(subject, &acme, QueuedAuthor::User(mina), "mina-0").await;
    keep(subject, &acme, QueuedAuthor::User(noor), "hers").await;
    let rehearsed = erase(subject, &acme, mina, Mode::Rehearse).await;
    let erased = erase(subject, &acme, mina, Mode::Erase).await;
    let counts = erased.expect("erased").counts;
    assert_eq!(rehearsed.expect("counted").counts, counts);
    assert_eq!((counts.deleted_outbox, counts.tombstoned_keys), (3, 3));
    let anew = seen(subject, &acme, &custom("mina")).await.account_id;
    for key in ["waits", "waits-too", "mina-0"] {
        let repeated = say(subject, &acme, anew, key).await;
        assert!(is_gone(&repeated), "{key}: {repeated:?}");
    }
    say(subject, &acme, noor, "hers").await.expect("stored");
    say(subject, &acme, anew, "fresh").await.expect("stored");
}

async fn queued(
    subject: &dyn Subject,
    tenant: &TenantId,
    name: &str,
    queued_at: Timestamp,
) -> Result<Resolved, IdentityError> {
    let identity = subject.identity();
    identity
        .resolve_queued(tenant, &custom(name), queued_at)
        .await
}

fn is_refused(answer: &Result<Resolved, IdentityError>) -> bool {
    matches!(answer, Err(IdentityError::Gone))
}

/// failures.md 15, T-37: what came before somebody was erased makes nobody of them, by any of their
/// channel users, whether they came back since or not; what came after is of somebody new.
pub async fn what_came_before_an_erasure_never_comes_back(subject: &dyn Subject) {
    let acme = tenant(subject, "acme").await;
    let corp = tenant(subject, "acme-corp").await;
    let mina = person(subject, &acme, "mina", 1).await;
    let other = person(subject, &acme, "other", 1).await;
    merge(subject, &acme, mina, other).await.expect("merged");
    let before = subject.clock().now();
    subject.clock().advance(Duration::from_secs(5));
    erase(subject, &acme, mina, Mode::Rehearse)
        .await
        .expect("counted");
    assert!(queued(subject, &acme, "mina", before).await.is_ok());
    let receipt = erase(subject, &acme, mina, Mode::Erase).await;
    assert_eq!(receipt.expect("erased").counts.tombstoned_refs, 2);
    let at_once = subject.clock().now();
    subject.clock().advance(Duration::from_secs(5));

    for (name, came) in [("mina", before), ("other", before), ("mina", at_once)] {
        let answer = queued(subject, &acme, name, came).await;
        assert!(is_refused(&answer), "{name}: {answer:?}");
        let id = custom(name).id;
        let found = subject.identity().lookup(&acme, &id).await.expect("reads");
        assert_eq!(found, None, "nobody was made for {name}");
    }
    let elsewhere = queued(subject, &corp, "mina", before).await;
    assert!(elsewhere.expect("another tenant's").is_new);
    let namesake = queued(subject, &acme, "Mina", before).await;
    assert!(namesake.expect("somebody else").is_new);

    let after = queued(subject, &acme, "mina", subject.clock().now()).await;
    let after = after.expect("a fresh message");
    assert!(after.is_new && after.user_id != mina);
    let answer = queued(subject, &acme, "mina", before).await;
    assert!(is_refused(&answer), "they came back: {answer:?}");
    let fresh = queued(subject, &acme, "mina", subject.clock().now()).await;
    assert_eq!(fresh.expect("known").account_id, after.account_id);
}

/// T-37: words with a date of before an erasure make nobody, whether the person came back since or not;
/// words of after it are of somebody new.
pub async fn what_was_said_before_an_erasure_makes_nobody(subject: &dyn Subject) {
    let acme = tenant(subject, "acme").await;
    let identity = subject.identity();
    let said = async |name: &str, at| identity.resolve_said(&acme, &custom(name), at).await;
    let before = subject.clock().now();
    subject.clock().advance(Duration::from_secs(5));
    let mina = person(subject, &acme, "mina", 1).await;
    let older = said("mina", before).await.expect("nobody was erased");
    assert_eq!((older.user_id, older.is_new), (mina, false));
    subject.clock().advance(Duration::from_secs(5));
    let late = subject.clock().now();
    subject.clock().advance(Duration::from_secs(5));
    erase(subject, &acme, mina, Mode::Erase)
        .await
        .expect("erased");
    subject.clock().advance(Duration::from_secs(5));

    for at in [before, late] {
        let answer = said("mina", at).await;
        assert!(is_refused(&answer), "{at:?}: {answer:?}");
    }
    let id = custom("mina").id;
    let found = identity.lookup(&acme, &id).await.expect("reads");
    assert_eq!(found, None, "nobody was made");
    let other = said("noor", before).await.expect("nobody was erased");
    assert!(other.is_new, "a first sight may be of something older");

    let now = subject.clock().now();
    let back = said("mina", now).await.expect("said after the erasure");
    assert!(back.is_new && back.user_id != mina);
    subject.clock().advance(Duration::from_secs(5));
    assert!(is_refused(&said("mina", late).await), "they came back");
    let again = said("mina", subject.clock().now()).await.expect("known");
    assert_eq!(again.account_id, back.account_id);
}

/// Words with a date are a sight like any other: what they say of the person is stored.
pub async fn a_dated_message_says_who_somebody_is(subject: &dyn Subject) {
    let acme = tenant(subject, "acme").await;
    let identity = subject.identity();
    let named = |name: &str| custom("mina").with_display_name(name).expect("a name");
    let first = subject.clock().now();
    let mina = identity.resolve_said(&acme, &named("Mina"), first).await;
    let mina = mina.expect("a first sight").user_id;
    subject.clock().advance(Duration::from_secs(90));
    for at in [first, subject.clock().now()] {
        let name = format!("Mina at {}", at.as_millis());
        let again = identity.resolve_said(&acme, &named(&name), at).await;
        assert_eq!(again.expect("known").user_id, mina);
        let user = identity.user(&acme, mina).await.expect("reads");
        let stored = &user.expect("known").identities[0];
        assert_eq!(stored.display_name, Some(name));
        assert_eq!(stored.last_seen_at, subject.clock().now());
    }
}

/// What was said before the last of two erasures is gone, between them too.
pub async fn a_second_erasure_of_a_channel_user_bars_what_came_between(subject: &dyn Subject) {
    let acme = tenant(subject, "acme").await;
    let first = person(subject, &acme, "mina", 1).await;
    erase(subject, &acme, first, Mode::Erase)
        .await
        .expect("erased");
    subject.clock().advance(Duration::from_secs(5));
    let between = subject.clock().now();
    let second = person(subject, &acme, "mina", 0).await;
    assert!(queued(subject, &acme, "mina", between).await.is_ok());
    subject.clock().advance(Duration::from_secs(5));
    erase(subject, &acme, second, Mode::Erase)
        .await
        .expect("erased");
    assert!(is_refused(&queued(subject, &acme, "mina", between).await));
}

/// What a message that waited says of somebody who is known is old news.
pub async fn a_message_that_waited_does_not_rename_anybody(subject: &dyn Subject) {
    let acme = tenant(subject, "acme").await;
    let named = custom("mina").with_display_name("Mina").expect("a name");
    let mina = seen(subject, &acme, &named).await.user_id;
    let before = snapshot(subject, &acme, mina).await;
    let old = custom("mina").with_display_name("Old").expect("a name");
    subject.clock().advance(Duration::from_hours(1));
    let queued_at = subject.clock().now();
    let found = subject
        .identity()
        .resolve_queued(&acme, &old, queued_at)
        .await;
    assert_eq!(found.expect("known").user_id, mina);
    assert_eq!(snapshot(subject, &acme, mina).await, before);
}

/// A digest is kept no longer than anything can wait.
pub async fn what_is_remembered_of_erased_channel_users_ends(subject: &dyn SweptSubject) {
    let acme = tenant(subject, "acme").await;
    let mina = person(subject, &acme, "mina", 0).await;
    erase(subject, &acme, mina, Mode::Erase)
        .await
        .expect("erased");
    let (retention, pass) = (subject.retention(), Pass::Tombstones);
    let swept = async || {
        let counted = retention.preview(&acme, pass).await.expect("counted");
        let chunk = Chunk::new(10);
        let swept = retention.sweep(&acme, pass, chunk, TOMBSTONE_LIFE).await;
        let swept = swept.expect("swept");
        assert_eq!(counted.rows, swept.rows);
        swept.rows
    };
    let second = Duration::from_secs(1);
    let nearly = TOMBSTONE_LIFE.checked_sub(second).expect("days");
    subject.clock().advance(nearly);
    assert_eq!(swept().await, 0);
    subject.clock().advance(second);
    assert_eq!(swept().await, 1);
    assert_eq!(swept().await, 0);
}
