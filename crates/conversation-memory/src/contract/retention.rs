//! Cases of deleting by rule: what goes, in which order, and what stays.

use std::sync::Arc;
use std::time::Duration;

use throughline_domain::{TenantId, UserId};

use super::restamping::days;
use super::sample::{DAY, LOOKALIKES, MICROSECOND, now, refusal, store, store_one, usage};
use super::together::together;
use super::trimming::assert_exact;
use super::{RetentionSubject, turn};
use crate::{Chunk, MemoryError, Pass, RejectReason, Retention, RetentionError, Swept, Usage};

const WEEK: Duration = Duration::from_hours(7 * 24);

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

pub(super) async fn sweep(subject: &dyn RetentionSubject, tenant: &TenantId, pass: Pass) -> u64 {
    sweep_all(&subject.retention(), tenant, pass, Chunk::default()).await
}

/// Stores that many turns of five bytes, a second apart.
pub(super) async fn fill(
    subject: &dyn RetentionSubject,
    tenant: &TenantId,
    user: UserId,
    turns: u32,
) {
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
