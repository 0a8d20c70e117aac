//! Cases of where in time a turn lands (T-26, failures.md 27).

use std::time::Duration;

use throughline_domain::Timestamp;

use super::sample::{
    DAY, MICROSECOND, acme_and_mina, latest, now, refusal, said, store_one, usage,
};
use super::{Subject, turn};
use crate::RejectReason;

async fn landed(subject: &dyn Subject, said_at: Option<Timestamp>) -> Timestamp {
    let (acme, mina) = acme_and_mina(subject).await;
    let mut new = turn(mina, "k1");
    if let Some(said_at) = said_at {
        new = new.at(said_at);
    }
    store_one(subject, &acme, new.build()).await;
    latest(subject, &acme, mina).await[0].created_at
}

/// Without a time of the caller the turn was said now.
pub async fn a_turn_without_a_time_was_said_now(subject: &dyn Subject) {
    assert_eq!(landed(subject, None).await, now(subject));
}

/// Hours back is believed, to the microsecond.
pub async fn a_time_in_the_past_is_kept(subject: &dyn Subject) {
    let at = now(subject).minus(Duration::from_micros(7_200_000_001));
    assert_eq!(landed(subject, Some(at)).await, at);
}

/// A clock hours ahead pins nothing to the future.
pub async fn a_time_ahead_is_cut_to_two_minutes(subject: &dyn Subject) {
    let edge = now(subject).plus(Duration::from_mins(2));
    let ahead = now(subject).plus(Duration::from_hours(9));
    assert_eq!(landed(subject, Some(ahead)).await, edge);
}

/// A turn of two months ago lands thirty days back.
pub async fn a_time_far_back_is_cut_to_thirty_days(subject: &dyn Subject) {
    let back = now(subject).minus(60 * DAY);
    assert_eq!(
        landed(subject, Some(back)).await,
        now(subject).minus(30 * DAY)
    );
}

/// Older than the tenant keeps turns is refused and leaves nothing behind; the key stays free.
pub async fn a_turn_older_than_the_retention_is_refused(subject: &dyn Subject) {
    let acme = subject.tenant("acme", 7).await;
    let mina = subject.user(&acme).await;
    let edge = now(subject).minus(7 * DAY);
    for at in [
        edge,
        edge.minus(3000 * DAY),
        Timestamp::from_micros(i64::MIN),
    ] {
        let new = turn(mina, "k1").at(at).build();
        let key = new.key().clone();
        let refused = refusal(subject.memory().append(&acme, new).await);
        assert_eq!(refused, (key, RejectReason::Expired));
    }
    assert_eq!(usage(subject, &acme, mina).await.turn_count, 0);
    let inside = edge.plus(MICROSECOND);
    store_one(subject, &acme, turn(mina, "k1").at(inside).build()).await;
    assert_eq!(latest(subject, &acme, mina).await[0].created_at, inside);
}

/// Late turns stand where they were said, not where they were sent.
pub async fn a_late_turn_stands_where_it_was_said(subject: &dyn Subject) {
    let (acme, mina) = acme_and_mina(subject).await;
    let start = now(subject);
    subject.clock().advance(Duration::from_mins(10));
    for (key, minute) in [("c", 3), ("a", 1), ("b", 2)] {
        let at = start.plus(Duration::from_mins(minute));
        store_one(subject, &acme, turn(mina, key).saying(key).at(at).build()).await;
    }
    let turns = latest(subject, &acme, mina).await;
    assert_eq!(said(&turns), ["c", "b", "a"]);
}
