//! Cases of caps under appends: what is pushed out at once, and counters that stay exact (T-70, R-070).

use std::pin::Pin;
use std::time::Duration;

use throughline_domain::{TenantId, UserId};

use super::retention::sweep_all;
use super::sample::{all, bytes, latest, said, store_one, usage};
use super::together::together;
use super::{RetentionSubject, Subject, turn};
use crate::{Chunk, Pass, Usage};

/// The counters equal COUNT and SUM of what is there.
pub(super) async fn assert_exact(subject: &dyn Subject, tenant: &TenantId, user: UserId) -> Usage {
    let turns = all(subject, tenant, user).await;
    let counted = usage(subject, tenant, user).await;
    let real = Usage {
        turn_count: turns.len() as u64,
        byte_count: turns.iter().map(bytes).sum(),
    };
    assert_eq!(counted, real);
    counted
}

/// Up to a twentieth over the cap an append pushes nothing out; beyond, the two oldest at most.
pub async fn an_append_far_over_the_count_pushes_the_oldest_out(subject: &dyn RetentionSubject) {
    let acme = subject.tenant("acme", 90).await;
    let mina = subject.user(&acme).await;
    subject.set_caps(&acme, 20, 50_000_000).await;
    for number in 1..=21 {
        let key = number.to_string();
        store_one(subject, &acme, turn(mina, &key).saying(&key).build()).await;
    }
    assert_eq!(assert_exact(subject, &acme, mina).await.turn_count, 21);
    store_one(subject, &acme, turn(mina, "22").saying("22").build()).await;
    let left = latest(subject, &acme, mina).await;
    assert_eq!(said(&left).last(), Some(&"3"), "1 and 2 made room");
    assert_eq!(assert_exact(subject, &acme, mina).await.turn_count, 20);
    let gone = subject
        .memory()
        .append(&acme, turn(mina, "1").saying("1").build())
        .await;
    assert_eq!(super::sample::refusal(gone).1, crate::RejectReason::Gone);
    // A cap that was lowered far is reached step by step.
    subject.set_caps(&acme, 2, 50_000_000).await;
    store_one(subject, &acme, turn(mina, "23").build()).await;
    assert_eq!(assert_exact(subject, &acme, mina).await.turn_count, 19);
}

/// Bytes likewise, and never more than needed.
pub async fn an_append_far_over_the_bytes_pushes_the_oldest_out(subject: &dyn RetentionSubject) {
    let acme = subject.tenant("acme", 90).await;
    let mina = subject.user(&acme).await;
    subject.set_caps(&acme, 10_000, 2_000_000).await;
    for (key, size) in [("a", 699_000), ("b", 699_000), ("c", 699_000)] {
        let large = "x".repeat(size);
        store_one(
            subject,
            &acme,
            turn(mina, key).saying(key).answered(&large).build(),
        )
        .await;
    }
    assert_eq!(said(&latest(subject, &acme, mina).await), ["c", "b", "a"]);
    store_one(subject, &acme, turn(mina, "d").saying("d").build()).await;
    let large = "x".repeat(10);
    store_one(
        subject,
        &acme,
        turn(mina, "e").saying("e").answered(&large).build(),
    )
    .await;
    assert_eq!(
        said(&latest(subject, &acme, mina).await),
        ["e", "d", "c", "b", "a"]
    );
    store_one(
        subject,
        &acme,
        turn(mina, "f")
            .saying("f")
            .answered(&"x".repeat(100_000))
            .build(),
    )
    .await;
    assert_eq!(
        said(&latest(subject, &acme, mina).await),
        ["f", "e", "d", "c", "b"]
    );
    assert_exact(subject, &acme, mina).await;
}

/// A hundred callers at once around the cap, some with one key.
pub async fn a_hundred_appends_at_a_cap_keep_the_counters_exact(subject: &dyn RetentionSubject) {
    let acme = subject.tenant("acme", 90).await;
    let mina = subject.user(&acme).await;
    subject.set_caps(&acme, 40, 50_000_000).await;
    let turns = (0..100).map(|number| turn(mina, &format!("k{}", number % 90)).build());
    let appends = turns.map(|turn| {
        let (memory, acme) = (subject.memory(), acme.clone());
        async move { memory.append(&acme, turn).await }
    });
    for answer in together(appends.collect()).await {
        // A retry that comes after its turn was pushed out again is refused for good.
        if let Err(error) = answer {
            assert!(matches!(
                error,
                crate::AppendError::Rejected {
                    reason: crate::RejectReason::Gone,
                    ..
                }
            ));
        }
    }
    let left = assert_exact(subject, &acme, mina).await.turn_count;
    assert!((40..=42).contains(&left), "{left} turns are left");
    sweep_all(
        &subject.retention(),
        &acme,
        Pass::Count {
            user: mina,
            cap: 40,
        },
        Chunk::new(1),
    )
    .await;
    assert_eq!(assert_exact(subject, &acme, mina).await.turn_count, 40);
}

/// failures.md 8, without merges and erasures, which are no matter of this capability: appends by
/// several callers beside sweeps of every kind.
pub async fn appends_and_sweeps_at_once_keep_the_counters_exact(subject: &dyn RetentionSubject) {
    let acme = subject.tenant("acme", 2).await;
    subject.set_caps(&acme, 30, 50_000_000).await;
    let (mina, noor) = (subject.user(&acme).await, subject.user(&acme).await);
    let callers = (0..4).map(|caller| {
        let (memory, acme, clock) = (subject.memory(), acme.clone(), subject.clock());
        boxed(async move {
            for number in 0..60 {
                let user = if number % 2 == 0 { mina } else { noor };
                let key = format!("{caller}-{number}");
                let answer = memory.append(&acme, turn(user, &key).build()).await;
                answer.expect("a good turn");
                clock.advance(Duration::from_mins(20));
            }
        })
    });
    let passes = [
        Pass::Ended,
        Pass::Count {
            user: mina,
            cap: 25,
        },
        Pass::Bytes {
            user: noor,
            cap: 100,
        },
    ];
    let sweepers = passes.into_iter().map(|pass| {
        let (retention, acme) = (subject.retention(), acme.clone());
        boxed(async move {
            for _ in 0..40 {
                sweep_all(&retention, &acme, pass, Chunk::new(7)).await;
            }
        })
    });
    together(callers.chain(sweepers).collect()).await;
    sweep_all(&subject.retention(), &acme, Pass::Ended, Chunk::default()).await;
    for user in [mina, noor] {
        assert_exact(subject, &acme, user).await;
    }
    let found = subject
        .retention()
        .reconcile(&acme, None, 100)
        .await
        .expect("looked");
    assert_eq!((found.users, found.drifted), (2, 0));
}

fn boxed(
    work: impl Future<Output = ()> + Send + 'static,
) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(work)
}
