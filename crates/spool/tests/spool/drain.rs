//! Draining into a store that takes, refuses, or is away.

use std::time::Duration;

use throughline_spool::{Drained, REASON_ATTEMPTS, Verdict};

use crate::support::{Fixture, entry, in_line, tenant};

#[tokio::test]
async fn a_hundred_hopeless_entries_do_not_hold_up_the_good_one() {
    let fixture = Fixture::new();
    let spool = fixture.open().await;
    for n in 0..100 {
        spool
            .enqueue(in_line("acme", "chat", &format!("bad {n}")))
            .await
            .unwrap();
    }
    spool
        .enqueue(in_line("acme", "chat", "good"))
        .await
        .unwrap();
    let mut stored = Vec::new();
    let drained = spool
        .drain(10, |entry| {
            let good = entry.key == "good";
            if good {
                stored.push(entry.key);
            }
            std::future::ready(if good {
                Verdict::Stored
            } else {
                Verdict::Reject("unknown_user".to_owned())
            })
        })
        .await
        .unwrap();
    assert_eq!(stored, ["good"]);
    assert_eq!(
        drained,
        Drained {
            stored: 1,
            set_aside: 100,
            ..Drained::default()
        }
    );
    let aside = spool
        .list_set_aside(Some(tenant("acme")), None, 200)
        .await
        .unwrap();
    assert_eq!(aside.len(), 100);
    assert!(
        aside
            .iter()
            .all(|entry| entry.reason == "unknown_user" && entry.attempts == 1)
    );
}

#[tokio::test]
async fn a_store_that_is_away_burns_no_attempt_however_long() {
    let fixture = Fixture::new();
    let spool = fixture.open().await;
    for n in 0..5 {
        spool
            .enqueue(in_line("acme", "chat", &n.to_string()))
            .await
            .unwrap();
    }
    for _ in 0..360 {
        let mut offered = 0;
        let drained = spool
            .drain(10, |_| {
                offered += 1;
                std::future::ready(Verdict::Away)
            })
            .await
            .unwrap();
        assert_eq!(
            (drained, offered),
            (
                Drained {
                    away: true,
                    ..Drained::default()
                },
                1
            )
        );
        fixture.clock.advance(Duration::from_secs(10));
    }
    let mut order = Vec::new();
    let drained = spool
        .drain(10, |entry| {
            assert_eq!(entry.attempts, 0);
            order.push(entry.key);
            std::future::ready(Verdict::Stored)
        })
        .await
        .unwrap();
    assert_eq!(drained.stored, 5);
    assert_eq!(order, ["0", "1", "2", "3", "4"]);
    assert_eq!(spool.stats().pending.entries, 0);
}

#[tokio::test]
async fn the_fifth_failure_sets_aside_exactly_once() {
    let fixture = Fixture::new();
    let spool = fixture.open().await;
    spool.enqueue(entry("acme", "k")).await.unwrap();
    let mut outcomes = Vec::new();
    for _ in 0..7 {
        let drained = spool
            .drain(10, |_| {
                std::future::ready(Verdict::Retry("quota".to_owned()))
            })
            .await
            .unwrap();
        outcomes.push((drained.retried, drained.set_aside));
        fixture.clock.advance(Duration::from_mins(10));
    }
    assert_eq!(
        outcomes,
        [(1, 0), (1, 0), (1, 0), (1, 0), (0, 1), (0, 0), (0, 0)]
    );
    let aside = spool.list_set_aside(None, None, 9).await.unwrap();
    assert_eq!(
        (aside[0].attempts, aside[0].last_error.as_str()),
        (5, "quota")
    );
    assert_eq!(aside[0].reason, REASON_ATTEMPTS);
}
