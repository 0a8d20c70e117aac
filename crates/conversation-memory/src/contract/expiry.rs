//! Cases of turns that have ended: no reader sees them, whatever was swept (design 10, T-72).

use std::time::Duration;

use throughline_domain::TenantId;

use super::sample::{DAY, MICROSECOND, latest, now, said, scope, store, store_one, told, usage};
use super::{Subject, turn};

async fn seen(
    subject: &dyn Subject,
    tenant: &TenantId,
    user: throughline_domain::UserId,
) -> String {
    let recent = latest(subject, tenant, user).await;
    let mut history = told(subject, tenant, &scope("slack-user", "C1")).await;
    history.reverse();
    assert_eq!(recent, history, "the two readers disagree");
    said(&recent).join(" ")
}

/// A turn can be read up to the last microsecond of its time, and not at its end.
pub async fn a_turn_ends_to_the_microsecond(subject: &dyn Subject) {
    let acme = subject.tenant("acme", 1).await;
    let mina = subject.user(&acme).await;
    store_one(subject, &acme, turn(mina, "a").saying("a").build()).await;
    let later = now(subject).plus(MICROSECOND);
    store_one(
        subject,
        &acme,
        turn(mina, "b").saying("b").at(later).build(),
    )
    .await;
    subject
        .clock()
        .advance(Duration::from_micros(86_400_000_000 - 1));
    assert_eq!(seen(subject, &acme, mina).await, "b a");
    subject.clock().advance(MICROSECOND);
    assert_eq!(seen(subject, &acme, mina).await, "b");
    subject.clock().advance(MICROSECOND);
    assert_eq!(seen(subject, &acme, mina).await, "");
}

/// The time runs from when a turn was said, not from when it was sent.
pub async fn a_late_turn_ends_when_it_would_have(subject: &dyn Subject) {
    let acme = subject.tenant("acme", 7).await;
    let mina = subject.user(&acme).await;
    let said_at = now(subject).minus(6 * DAY);
    store_one(
        subject,
        &acme,
        turn(mina, "a").saying("a").at(said_at).build(),
    )
    .await;
    assert_eq!(seen(subject, &acme, mina).await, "a");
    subject.clock().advance(DAY);
    assert_eq!(seen(subject, &acme, mina).await, "");
}

/// failures.md 17: a shorter retention hides old turns at once, and new turns have the shorter time.
pub async fn a_shorter_retention_hides_old_turns_at_once(subject: &dyn Subject) {
    let acme = subject.tenant("acme", 90).await;
    let mina = subject.user(&acme).await;
    let start = now(subject);
    let dated = |key: &str, days| {
        let at = start.minus(DAY * days);
        turn(mina, key).saying(key).at(at).build()
    };
    store(
        subject,
        &acme,
        vec![dated("a", 10), dated("b", 5), dated("c", 0)],
    )
    .await;
    subject.set_ttl(&acme, 7).await;
    assert_eq!(seen(subject, &acme, mina).await, "c b");
    subject.set_ttl(&acme, 5).await;
    assert_eq!(seen(subject, &acme, mina).await, "c");
    subject.clock().advance(4 * DAY);
    store_one(subject, &acme, turn(mina, "d").saying("d").build()).await;
    subject.clock().advance(DAY);
    assert_eq!(seen(subject, &acme, mina).await, "d");
}

/// A longer retention concerns new turns: what was promised to end then ends then.
pub async fn a_longer_retention_brings_nothing_back(subject: &dyn Subject) {
    let acme = subject.tenant("acme", 1).await;
    let mina = subject.user(&acme).await;
    store_one(subject, &acme, turn(mina, "a").saying("a").build()).await;
    subject.clock().advance(Duration::from_hours(12));
    subject.set_ttl(&acme, 90).await;
    store_one(subject, &acme, turn(mina, "b").saying("b").build()).await;
    assert_eq!(seen(subject, &acme, mina).await, "b a");
    subject.clock().advance(Duration::from_hours(12));
    assert_eq!(seen(subject, &acme, mina).await, "b");
    subject.clock().advance(80 * DAY);
    assert_eq!(seen(subject, &acme, mina).await, "b");
}

/// A retention shortened and put back hides nothing that was promised longer.
pub async fn a_retention_put_back_shows_what_was_promised(subject: &dyn Subject) {
    let acme = subject.tenant("acme", 90).await;
    let mina = subject.user(&acme).await;
    store_one(subject, &acme, turn(mina, "a").saying("a").build()).await;
    subject.clock().advance(10 * DAY);
    subject.set_ttl(&acme, 7).await;
    assert_eq!(seen(subject, &acme, mina).await, "");
    subject.set_ttl(&acme, 90).await;
    assert_eq!(seen(subject, &acme, mina).await, "a");
}

/// failures.md 9: the retention of one tenant hides nothing of another.
pub async fn each_tenant_has_its_own_retention(subject: &dyn Subject) {
    let mut users = Vec::new();
    for (name, days) in super::sample::LOOKALIKES.into_iter().zip([1, 3, 9]) {
        let tenant = subject.tenant(name, days).await;
        let user = subject.user(&tenant).await;
        store_one(subject, &tenant, turn(user, "k1").saying("x").build()).await;
        users.push((tenant, user));
    }
    subject.clock().advance(2 * DAY);
    subject.set_ttl(&users[2].0, 2).await;
    for ((tenant, user), expected) in users.iter().zip(["", "x", ""]) {
        assert_eq!(seen(subject, tenant, *user).await, expected, "{tenant}");
    }
}

/// Turns that ended stay counted until they are swept.
pub async fn an_ended_turn_is_counted_until_it_is_swept(subject: &dyn Subject) {
    let acme = subject.tenant("acme", 1).await;
    let mina = subject.user(&acme).await;
    store_one(subject, &acme, turn(mina, "a").build()).await;
    let before = usage(subject, &acme, mina).await;
    subject.clock().advance(DAY);
    assert_eq!(usage(subject, &acme, mina).await, before);
    assert_eq!(before.turn_count, 1);
}
