//! Cases of a retention that is changed: what becomes of turns that are stored.

use throughline_domain::TenantId;

use super::retention::{fill, sweep};
use super::sample::{DAY, latest, now, said, store, store_one};
use super::trimming::assert_exact;
use super::{RetentionSubject, turn};
use crate::{Chunk, Pass, Restamp};

async fn restamp_all(subject: &dyn RetentionSubject, tenant: &TenantId, rule: Restamp) -> u64 {
    let mut rows = 0;
    loop {
        let done = subject
            .retention()
            .restamp(tenant, rule, Chunk::new(3))
            .await;
        let done = done.expect("restamped");
        rows += done.rows;
        if !done.more {
            return rows;
        }
    }
}

pub(super) fn days(days: u32) -> Restamp {
    Restamp {
        ttl: days * DAY,
        extend: false,
    }
}

/// failures.md 17, D-17: unreadable at once, gone after the next sweep, and for good.
pub async fn what_a_shorter_retention_ends_is_gone_after_a_sweep(subject: &dyn RetentionSubject) {
    let acme = subject.tenant("acme", 90).await;
    let mina = subject.user(&acme).await;
    let start = now(subject);
    let dated = |key: &str, days| {
        turn(mina, key)
            .saying(key)
            .at(start.minus(DAY * days))
            .build()
    };
    let turns = vec![dated("a", 20), dated("b", 7), dated("c", 6), dated("d", 0)];
    store(subject, &acme, turns).await;
    subject.set_ttl(&acme, 7).await;
    assert_eq!(said(&latest(subject, &acme, mina).await), ["d", "c"]);
    assert_eq!(restamp_all(subject, &acme, days(7)).await, 4);
    assert_eq!(sweep(subject, &acme, Pass::Ended).await, 2);
    assert_eq!(assert_exact(subject, &acme, mina).await.turn_count, 2);
    subject.set_ttl(&acme, 90).await;
    assert_eq!(restamp_all(subject, &acme, days(90)).await, 0);
    assert_eq!(said(&latest(subject, &acme, mina).await), ["d", "c"]);
    subject.clock().advance(DAY);
    assert_eq!(said(&latest(subject, &acme, mina).await), ["d"]);
}

/// D-17: a longer retention is for stored turns only when the operator says so, and never for those
/// that have ended.
pub async fn a_longer_retention_extends_only_when_told_to(subject: &dyn RetentionSubject) {
    let acme = subject.tenant("acme", 2).await;
    let mina = subject.user(&acme).await;
    store_one(subject, &acme, turn(mina, "a").saying("a").build()).await;
    subject.clock().advance(DAY);
    store_one(subject, &acme, turn(mina, "b").saying("b").build()).await;
    subject.set_ttl(&acme, 30).await;
    assert_eq!(restamp_all(subject, &acme, days(30)).await, 0);
    subject.clock().advance(DAY);
    assert_eq!(said(&latest(subject, &acme, mina).await), ["b"]);
    let extend = Restamp {
        extend: true,
        ..days(30)
    };
    assert_eq!(restamp_all(subject, &acme, extend).await, 1);
    subject.clock().advance(28 * DAY);
    assert_eq!(said(&latest(subject, &acme, mina).await), ["b"]);
    assert_eq!(sweep(subject, &acme, Pass::Ended).await, 1);
    subject.clock().advance(DAY);
    assert_eq!(said(&latest(subject, &acme, mina).await), [] as [&str; 0]);
}

/// A walk in chunks meets every turn; one that was finished is not walked again, and turns stored
/// meanwhile need none.
pub async fn a_restamp_goes_on_chunk_by_chunk_and_is_done_once(subject: &dyn RetentionSubject) {
    let acme = subject.tenant("acme", 90).await;
    let mina = subject.user(&acme).await;
    fill(subject, &acme, mina, 10).await;
    subject.set_ttl(&acme, 7).await;
    let first = subject
        .retention()
        .restamp(&acme, days(7), Chunk::new(4))
        .await;
    let first = first.expect("restamped");
    assert_eq!((first.rows, first.more), (4, true));
    store_one(subject, &acme, turn(mina, "new").build()).await;
    assert_eq!(restamp_all(subject, &acme, days(7)).await, 6);
    let again = subject
        .retention()
        .restamp(&acme, days(7), Chunk::new(4))
        .await;
    let again = again.expect("restamped");
    assert_eq!((again.rows, again.more), (0, false));
    // A rule that comes back is a rule of its own.
    assert_eq!(restamp_all(subject, &acme, days(8)).await, 0);
    assert_eq!(restamp_all(subject, &acme, days(5)).await, 11);
}
