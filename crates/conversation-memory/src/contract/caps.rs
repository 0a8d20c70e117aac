//! Cases of a user's caps: who is over one, and what goes then.

use std::time::Duration;

use super::retention::{fill, sweep};
use super::sample::{all, latest, said, store_one, usage};
use super::trimming::assert_exact;
use super::{RetentionSubject, turn};
use crate::{Caps, Pass, Usage};

const NO_CAP: u64 = u64::MAX;

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
