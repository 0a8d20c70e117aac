//! Cases of deleting by rule: what goes, in which order, and what stays.

use std::sync::Arc;
use std::time::Duration;

use throughline_domain::{TenantId, UserId};

use super::sample::{
    DAY, LOOKALIKES, MICROSECOND, all, latest, now, refusal, said, store, store_one, usage,
};
use super::together::together;
use super::trimming::assert_exact;
use super::{RetentionSubject, turn};
use crate::{
    Caps, Chunk, MemoryError, Pass, RejectReason, Restamp, Retention, RetentionError, Swept, Usage,
};

const WEEK: Duration = Duration::from_hours(7 * 24);
const NO_CAP: u64 = u64::MAX;

/// Chunks until nothing is left; answers how many rows went.
pub(super) async fn sweep_all(
    retention: &Arc<dyn Retention>,
    tenant: &TenantId,
    pass: Pass,
    chunk: Chunk,
) -> u64 {
    let mut rows = 0;
    loop {
        let swept = retention
            .sweep(tenant, pass, chunk, WEEK)
            .await
            .expect("swept");
        rows += swept.rows;
        assert!(swept.rows <= u64::from(chunk.get()));
        if !swept.more {
            return rows;
        }
    }
}

async fn sweep(subject: &dyn RetentionSubject, tenant: &TenantId, pass: Pass) -> u64 {
    sweep_all(&subject.retention(), tenant, pass, Chunk::default()).await
}

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

fn days(days: u32) -> Restamp {
    Restamp {
        ttl: days * DAY,
        extend: false,
    }
}

/// Stores that many turns of five bytes, a second apart.
async fn fill(subject: &dyn RetentionSubject, tenant: &TenantId, user: UserId, turns: u32) {
    let start = now(subject).minus(Duration::from_hours(3));
    let turns = (1..=turns).map(|number| {
        let at = start.plus(Duration::from_millis(100) * number);
        turn(user, &format!("{user}-{number}")).at(at).build()
    });
    store(subject, tenant, turns.collect()).await;
}

/// a turn goes from the microsecond on at which no reader sees it any more; what belongs to
/// another tenant or has not ended stays.
pub async fn only_ended_turns_are_swept(subject: &dyn RetentionSubject) {
    let mut users = Vec::new();
    for name in LOOKALIKES {
        let tenant = subject.tenant(name, 1).await;
        let user = subject.user(&tenant).await;
        store_one(subject, &tenant, turn(user, "a").saying("a").build()).await;
        let later = now(subject).plus(MICROSECOND);
        store_one(
            subject,
            &tenant,
            turn(user, "b").saying("b").at(later).build(),
        )
        .await;
        users.push((tenant, user));
    }
    let acme = &users[0];
    subject.clock().advance(DAY.saturating_sub(MICROSECOND));
    assert_eq!(sweep(subject, &acme.0, Pass::Ended).await, 0);
    subject.clock().advance(MICROSECOND);
    assert_eq!(sweep(subject, &acme.0, Pass::Ended).await, 1);
    assert_eq!(assert_exact(subject, &acme.0, acme.1).await.turn_count, 1);
    for (tenant, user) in &users[1..] {
        assert_eq!(
            usage(subject, tenant, *user).await.turn_count,
            2,
            "{tenant}"
        );
    }
}

/// Each chunk is whole by itself: so many rows, the oldest there are, and counters that agree.
pub async fn a_sweep_goes_oldest_first_in_chunks(subject: &dyn RetentionSubject) {
    let acme = subject.tenant("acme", 1).await;
    let mina = subject.user(&acme).await;
    fill(subject, &acme, mina, 10).await;
    subject.clock().advance(2 * DAY);
    let chunk = Chunk::new(4);
    let expected = [(4, true), (4, true), (2, false), (0, false)];
    for (index, (rows, more)) in expected.into_iter().enumerate() {
        let swept = subject
            .retention()
            .sweep(&acme, Pass::Ended, chunk, WEEK)
            .await;
        let bytes = rows * 5;
        assert_eq!(
            swept.expect("swept"),
            Swept { rows, bytes, more },
            "chunk {index}"
        );
        let left = 10_u64.saturating_sub((index as u64 + 1) * 4);
        let counted = usage(subject, &acme, mina).await;
        let expected = Usage {
            turn_count: left,
            byte_count: left * 5,
        };
        assert_eq!(counted, expected);
    }
}

/// T-57: the key of a swept turn is refused as long as a retry can come, and free afterwards.
pub async fn a_swept_turn_cannot_come_back_while_a_retry_may(subject: &dyn RetentionSubject) {
    let acme = subject.tenant("acme", 1).await;
    let mina = subject.user(&acme).await;
    let again = || turn(mina, "k1").build();
    store_one(subject, &acme, again()).await;
    subject.clock().advance(DAY);
    assert_eq!(sweep(subject, &acme, Pass::Ended).await, 1);
    for wait in [Duration::ZERO, WEEK.saturating_sub(MICROSECOND)] {
        subject.clock().advance(wait);
        let refused = refusal(subject.memory().append(&acme, again()).await);
        assert_eq!(refused.1, RejectReason::Gone);
        assert_eq!(sweep(subject, &acme, Pass::Tombstones).await, 0);
        assert_eq!(usage(subject, &acme, mina).await, Usage::default());
    }
    subject.clock().advance(MICROSECOND);
    assert_eq!(sweep(subject, &acme, Pass::Tombstones).await, 1);
    store_one(subject, &acme, again()).await;
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

///
pub async fn turns_beyond_the_count_go_oldest_first(subject: &dyn RetentionSubject) {
    let acme = subject.tenant("acme", 90).await;
    let mina = subject.user(&acme).await;
    fill(subject, &acme, mina, 10_003).await;
    let pass = Pass::Count {
        user: mina,
        cap: 10_000,
    };
    assert_eq!(sweep(subject, &acme, pass).await, 3);
    let left = all(subject, &acme, mina).await;
    let start = left[0].created_at.minus(Duration::from_millis(100) * 9_999);
    assert_eq!(
        left.last().map(|turn| turn.created_at),
        Some(start),
        "the oldest went"
    );
    assert_eq!(assert_exact(subject, &acme, mina).await.turn_count, 10_000);
}

/// cap 25, five turns of 10 bytes: three go.
pub async fn the_shortest_run_beyond_the_bytes_goes(subject: &dyn RetentionSubject) {
    let acme = subject.tenant("acme", 90).await;
    let mina = subject.user(&acme).await;
    for key in ["a", "b", "c", "d", "e"] {
        let ten = turn(mina, key).saying(&key.repeat(10)).build();
        store_one(subject, &acme, ten).await;
    }
    let pass = |cap| Pass::Bytes { user: mina, cap };
    assert_eq!(sweep(subject, &acme, pass(25)).await, 3);
    assert_eq!(assert_exact(subject, &acme, mina).await.byte_count, 20);
    assert_eq!(
        said(&latest(subject, &acme, mina).await),
        ["eeeeeeeeee", "dddddddddd"]
    );
    assert_eq!(sweep(subject, &acme, pass(19)).await, 1);
    assert_eq!(sweep(subject, &acme, pass(9)).await, 1);
    assert_eq!(usage(subject, &acme, mina).await, Usage::default());
}

///
pub async fn exactly_at_a_cap_nothing_goes(subject: &dyn RetentionSubject) {
    let acme = subject.tenant("acme", 90).await;
    let mina = subject.user(&acme).await;
    fill(subject, &acme, mina, 10).await;
    assert_eq!(
        sweep(
            subject,
            &acme,
            Pass::Count {
                user: mina,
                cap: 10
            }
        )
        .await,
        0
    );
    assert_eq!(
        sweep(
            subject,
            &acme,
            Pass::Bytes {
                user: mina,
                cap: 50
            }
        )
        .await,
        0
    );
    let caps = Caps {
        turns: 10,
        bytes: 50,
    };
    let found = subject.retention().over_cap(&acme, caps, None).await;
    assert_eq!(found.expect("found").users, []);
}

/// Users of other tenants, and those within both caps, are not told.
pub async fn users_over_a_cap_are_found_and_no_others(subject: &dyn RetentionSubject) {
    let (acme, other) = (
        subject.tenant("acme", 90).await,
        subject.tenant("acme-corp", 90).await,
    );
    let mut users = Vec::new();
    for turns in [3, 5, 4, 6, 0] {
        let user = subject.user(&acme).await;
        fill(subject, &acme, user, turns).await;
        users.push(user);
    }
    let stranger = subject.user(&other).await;
    fill(subject, &other, stranger, 9).await;
    let mut found = Vec::new();
    let mut after = None;
    loop {
        let caps = Caps {
            turns: 4,
            bytes: NO_CAP,
        };
        let page = subject
            .retention()
            .over_cap(&acme, caps, after)
            .await
            .expect("found");
        found.extend(page.users);
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    let five = Usage {
        turn_count: 5,
        byte_count: 25,
    };
    let six = Usage {
        turn_count: 6,
        byte_count: 30,
    };
    let mut expected = vec![(users[1], five), (users[3], six)];
    expected.sort_by_key(|(user, _)| *user);
    assert_eq!(found, expected);
    let caps = Caps {
        turns: NO_CAP,
        bytes: 29,
    };
    let found = subject
        .retention()
        .over_cap(&acme, caps, None)
        .await
        .expect("found");
    assert_eq!(found.users, [(users[3], six)]);
}

/// A dry run tells what a sweep would do.
pub async fn a_preview_says_what_a_sweep_does_and_changes_nothing(subject: &dyn RetentionSubject) {
    let acme = subject.tenant("acme", 1).await;
    let mina = subject.user(&acme).await;
    fill(subject, &acme, mina, 10).await;
    subject
        .clock()
        .advance(Duration::from_hours(21) + Duration::from_millis(650));
    subject.write_audit_entry(&acme).await;
    subject.clock().advance(MICROSECOND);
    let before = usage(subject, &acme, mina).await;
    let passes = [
        (Pass::Ended, 6),
        (Pass::Count { user: mina, cap: 7 }, 3),
        (
            Pass::Bytes {
                user: mina,
                cap: 24,
            },
            6,
        ),
        (
            Pass::Audit {
                kept: Duration::ZERO,
            },
            1,
        ),
        (Pass::Tombstones, 0),
    ];
    for (pass, rows) in passes {
        let would = subject
            .retention()
            .preview(&acme, pass)
            .await
            .expect("looked");
        assert_eq!((would.rows, would.more), (rows, false), "{pass:?}");
    }
    assert_eq!(usage(subject, &acme, mina).await, before);
    assert_eq!(sweep(subject, &acme, Pass::Ended).await, 6);
    assert_eq!(
        sweep(
            subject,
            &acme,
            Pass::Audit {
                kept: Duration::ZERO
            }
        )
        .await,
        1
    );
    subject.clock().advance(WEEK);
    let would = subject.retention().preview(&acme, Pass::Tombstones).await;
    assert_eq!(would.expect("looked").rows, 6);
}

/// R-113, T-67: by the entry's own age, in chunks.
pub async fn audit_entries_go_after_their_retention(subject: &dyn RetentionSubject) {
    let (acme, other) = (
        subject.tenant("acme", 90).await,
        subject.tenant("acme-corp", 90).await,
    );
    for _ in 0..5 {
        subject.write_audit_entry(&acme).await;
        subject.write_audit_entry(&other).await;
        subject.clock().advance(DAY);
    }
    let pass = Pass::Audit { kept: 2 * DAY };
    let retention = subject.retention();
    assert_eq!(sweep_all(&retention, &acme, pass, Chunk::new(2)).await, 3);
    assert_eq!(sweep_all(&retention, &acme, pass, Chunk::new(2)).await, 0);
    subject.clock().advance(MICROSECOND);
    assert_eq!(sweep_all(&retention, &acme, pass, Chunk::new(2)).await, 1);
    assert_eq!(sweep_all(&retention, &other, pass, Chunk::new(2)).await, 4);
}

/// R-070, T-71: a look over healthy counters, page by page, finds and changes nothing.
pub async fn counters_that_are_right_are_left_alone(subject: &dyn RetentionSubject) {
    let acme = subject.tenant("acme", 90).await;
    let mut before = Vec::new();
    for turns in [3, 0, 5] {
        let user = subject.user(&acme).await;
        fill(subject, &acme, user, turns).await;
        before.push((user, usage(subject, &acme, user).await));
    }
    let (mut users, mut after) = (0, None);
    loop {
        let found = subject
            .retention()
            .reconcile(&acme, after, 1)
            .await
            .expect("looked");
        assert_eq!((found.drifted, found.turns_off, found.bytes_off), (0, 0, 0));
        users += found.users;
        after = found.next;
        if after.is_none() {
            break;
        }
    }
    // A user who never said anything may have no counters yet.
    assert!((2..=3).contains(&users), "{users} users were looked at");
    for (user, usage_before) in before {
        assert_eq!(usage(subject, &acme, user).await, usage_before);
    }
}

/// failures.md 16: replicas that sweep one tenant at the same time.
pub async fn two_sweepers_delete_each_turn_once(subject: &dyn RetentionSubject) {
    let acme = subject.tenant("acme", 1).await;
    let mut users = Vec::new();
    for _ in 0..4 {
        let user = subject.user(&acme).await;
        fill(subject, &acme, user, 100).await;
        users.push(user);
    }
    subject.clock().advance(2 * DAY);
    let sweepers = (0..4).map(|_| {
        let (retention, acme) = (subject.retention(), acme.clone());
        async move {
            let mut rows = 0;
            // One that met only what the others are deleting may see nothing more to do.
            for _ in 0..5 {
                rows += sweep_all(&retention, &acme, Pass::Ended, Chunk::new(9)).await;
            }
            rows
        }
    });
    let rows: u64 = together(sweepers.collect()).await.into_iter().sum();
    assert_eq!(rows, 400);
    for user in users {
        assert_eq!(usage(subject, &acme, user).await, Usage::default());
    }
}

/// Never an empty sweep in its place.
pub async fn an_unknown_tenant_cannot_be_swept(subject: &dyn RetentionSubject) {
    let nobody = TenantId::parse("nobody").expect("a plain name");
    let retention = subject.retention();
    let swept = retention
        .sweep(&nobody, Pass::Ended, Chunk::default(), WEEK)
        .await;
    let restamped = retention.restamp(&nobody, days(7), Chunk::default()).await;
    let looked = retention.reconcile(&nobody, None, 10).await;
    for error in [swept.err(), restamped.err(), looked.err()] {
        assert!(
            matches!(&error, Some(RetentionError::Memory(MemoryError::UnknownTenant(name))) if *name == nobody),
            "{error:?}"
        );
    }
}

/// What the lag is measured by.
pub async fn the_turn_that_ended_first_is_told(subject: &dyn RetentionSubject) {
    let (acme, other) = (
        subject.tenant("acme", 2).await,
        subject.tenant("other", 1).await,
    );
    let start = now(subject);
    for tenant in [&acme, &other] {
        let user = subject.user(tenant).await;
        store_one(subject, tenant, turn(user, "k1").build()).await;
    }
    let oldest = || async { subject.retention().oldest_ended().await.expect("looked") };
    assert_eq!(oldest().await, None);
    subject.clock().advance(3 * DAY);
    assert_eq!(oldest().await, Some(start.plus(DAY)));
    sweep(subject, &other, Pass::Ended).await;
    assert_eq!(oldest().await, Some(start.plus(2 * DAY)));
    sweep(subject, &acme, Pass::Ended).await;
    assert_eq!(oldest().await, None);
}
