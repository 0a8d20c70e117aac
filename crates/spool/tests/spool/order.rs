//! Order within a lane, fairness between tenants, leases.

use std::collections::HashMap;
use std::time::Duration;

use proptest::prelude::*;
use throughline_spool::{Retried, SpoolConfig, Verdict};

use crate::support::{Fixture, entry, ids, in_line, keys};

#[tokio::test]
async fn tenants_take_turns_however_much_one_of_them_has() {
    let fixture = Fixture::new();
    let spool = fixture.open().await;
    for n in 0..50 {
        spool
            .enqueue(entry("loud", &format!("l{n}")))
            .await
            .unwrap();
    }
    spool.enqueue(entry("quiet", "q0")).await.unwrap();
    spool.enqueue(entry("quiet", "q1")).await.unwrap();
    let batch = spool.next_batch(6).await.unwrap();
    assert_eq!(keys(&batch), ["l0", "q0", "l1", "q1", "l2", "l3"]);
}

#[tokio::test]
async fn batches_of_one_are_fair_too() {
    let fixture = Fixture::new();
    let spool = fixture.open().await;
    for name in ["a", "b", "c"] {
        for n in 0..2 {
            spool
                .enqueue(entry(name, &format!("{name}{n}")))
                .await
                .unwrap();
        }
    }
    let mut served = Vec::new();
    for _ in 0..6 {
        served.extend(spool.next_batch(1).await.unwrap());
    }
    assert_eq!(keys(&served), ["a0", "b0", "c0", "a1", "b1", "c1"]);
}

#[tokio::test]
async fn a_failed_entry_holds_its_lane_and_no_other() {
    let fixture = Fixture::new();
    let spool = fixture.open().await;
    for key in ["x1", "x2", "y1"] {
        spool
            .enqueue(in_line("acme", &key[..1], key))
            .await
            .unwrap();
    }
    let batch = spool.next_batch(1).await.unwrap();
    let Retried::At(at) = spool
        .retry_later(batch[0].id, "busy".to_owned())
        .await
        .unwrap()
    else {
        panic!("the first failure is not the last");
    };
    let free = spool.next_batch(9).await.unwrap();
    assert_eq!(keys(&free), ["y1"]);
    spool.ack(ids(&free)).await.unwrap();
    let wait = at.since(batch[0].enqueued_at);
    assert!((48..=72).contains(&wait.as_secs()));
    fixture
        .clock
        .advance(wait.saturating_sub(Duration::from_micros(1)));
    assert!(spool.next_batch(9).await.unwrap().is_empty());
    fixture.clock.advance(Duration::from_micros(1));
    let due = spool.next_batch(9).await.unwrap();
    assert_eq!(keys(&due), ["x1", "x2"]);
    assert_eq!(due[0].attempts, 1);
}

#[tokio::test]
async fn a_wait_survives_reopening() {
    let fixture = Fixture::new();
    let spool = fixture.open().await;
    spool.enqueue(in_line("acme", "x", "x1")).await.unwrap();
    spool.enqueue(in_line("acme", "x", "x2")).await.unwrap();
    let id = spool.next_batch(1).await.unwrap()[0].id;
    spool.retry_later(id, "busy".to_owned()).await.unwrap();
    spool.close().await.unwrap();
    let spool = fixture.open().await;
    assert!(spool.next_batch(9).await.unwrap().is_empty());
    fixture.clock.advance(Duration::from_secs(72));
    assert_eq!(keys(&spool.next_batch(9).await.unwrap()), ["x1", "x2"]);
}

#[tokio::test]
async fn what_is_handed_out_is_nobody_elses_until_the_lease_ends() {
    let fixture = Fixture::new();
    let spool = fixture.open().await;
    for key in ["x1", "x2"] {
        spool.enqueue(in_line("acme", "x", key)).await.unwrap();
    }
    let first = spool.next_batch(1).await.unwrap();
    assert!(
        spool.next_batch(9).await.unwrap().is_empty(),
        "x2 waits for x1"
    );
    fixture.clock.advance(SpoolConfig::default().lease);
    assert_eq!(keys(&spool.next_batch(1).await.unwrap()), ["x1"]);
    spool.release(ids(&first)).await.unwrap();
    assert_eq!(keys(&spool.next_batch(9).await.unwrap()), ["x1", "x2"]);
}

#[tokio::test]
async fn what_was_handed_out_and_not_acknowledged_comes_again_after_reopening() {
    let fixture = Fixture::new();
    let spool = fixture.open().await;
    for key in ["x1", "x2", "x3"] {
        spool.enqueue(in_line("acme", "x", key)).await.unwrap();
    }
    let batch = spool.next_batch(2).await.unwrap();
    spool.ack(vec![batch[0].id]).await.unwrap();
    spool.close().await.unwrap();
    let spool = fixture.open().await;
    let again = spool.next_batch(9).await.unwrap();
    assert_eq!(keys(&again), ["x2", "x3"]);
    assert_eq!(again[0].id, batch[1].id);
    assert_eq!(
        spool.ack(ids(&batch)).await.unwrap(),
        1,
        "the other is gone"
    );
}

#[tokio::test]
async fn a_batch_ends_at_its_bytes_and_holds_one_entry_at_least() {
    let mut fixture = Fixture::new();
    fixture.config.batch_bytes = 1;
    let spool = fixture.open().await;
    spool.enqueue(entry("acme", "a")).await.unwrap();
    spool.enqueue(entry("acme", "b")).await.unwrap();
    assert_eq!(keys(&spool.next_batch(9).await.unwrap()), ["a"]);
    assert_eq!(keys(&spool.next_batch(9).await.unwrap()), ["b"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever fails how often: what reaches the store reaches it in the order of its lane, each
    /// entry once, and nothing is left over.
    #[test]
    fn each_lane_keeps_its_order(
        lanes in prop::collection::vec((0_u8..3, 0_u8..3), 1..40),
        failures in prop::collection::vec(0_u8..4, 1..200),
        batch in 1_usize..20,
        reopen_after in 0_usize..10,
    ) {
        let fixture = Fixture::new();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let mut spool = fixture.open().await;
            for (n, (tenant, lane)) in lanes.iter().enumerate() {
                let new = in_line(&format!("t{tenant}"), &format!("l{lane}"), &n.to_string());
                spool.enqueue(new).await.unwrap();
            }
            let mut arrived: HashMap<_, Vec<usize>> = HashMap::new();
            let mut aside = 0;
            let mut failures = failures.into_iter();
            for round in 0.. {
                let drained = spool.drain(batch, |entry| {
                    let fails = failures.next() == Some(0);
                    if !fails {
                        let lane = (entry.tenant.clone(), entry.order.clone());
                        arrived.entry(lane).or_default().push(entry.key.parse().unwrap());
                    }
                    std::future::ready(if fails { Verdict::Retry("busy".to_owned()) } else { Verdict::Stored })
                }).await.unwrap();
                aside += drained.set_aside;
                if spool.stats().pending.entries == 0 {
                    break;
                }
                if round == reopen_after {
                    spool.close().await.unwrap();
                    spool = fixture.open().await;
                }
                fixture.clock.advance(Duration::from_mins(10));
            }
            let total: usize = arrived.values().map(Vec::len).sum();
            assert_eq!(total as u64 + aside, lanes.len() as u64);
            for order in arrived.values() {
                assert!(order.is_sorted_by(|a, b| a < b), "{order:?}");
            }
        });
    }
}

// Far more than a runtime lets one task do before it puts the rest off.
#[tokio::test]
async fn entries_handed_in_together_keep_their_order() {
    let fixture = Fixture::new();
    let spool = fixture.open().await;
    let names: Vec<String> = (0..1_000).map(|n| format!("k{n}")).collect();
    let entries = names
        .iter()
        .map(|name| in_line("acme", "a", name))
        .collect();
    let answers = spool.enqueue_in_order(entries).await;
    assert!(answers.iter().all(Result::is_ok));
    let taken = spool.next_batch(1_000).await.unwrap();
    assert_eq!(keys(&taken), names);
}
