//! Limits: refusing, dropping the oldest, and arithmetic that never drifts.

use proptest::prelude::*;
use throughline_spool::{ENTRY_OVERHEAD, Limit, NewEntry, Overflow, SpoolConfig, SpoolError};

use crate::support::{Fixture, entry, ids, keys, tenant};

fn limits(all: u64, tenant: u64, overflow: Overflow) -> SpoolConfig {
    // A key of one letter and a payload of 487 bytes: 1,000 bytes an entry.
    SpoolConfig {
        max_bytes: all * 1000,
        per_tenant_bytes: tenant * 1000,
        overflow,
        ..SpoolConfig::default()
    }
}

fn thousand(tenant: &str, key: char) -> NewEntry {
    let payload = vec![0; 1000 - usize::try_from(ENTRY_OVERHEAD).unwrap() - 1];
    NewEntry {
        payload,
        ..entry(tenant, &key.to_string())
    }
}

#[tokio::test]
async fn one_tenants_share_is_refused_while_another_still_fits() {
    let fixture = Fixture::with(limits(10, 2, Overflow::Refuse));
    let spool = fixture.open().await;
    spool.enqueue(thousand("loud", 'a')).await.unwrap();
    let last = spool.enqueue(thousand("loud", 'b')).await.unwrap();
    match spool.enqueue(thousand("loud", 'c')).await {
        Err(SpoolError::Full { whose, used, limit }) => {
            assert_eq!((whose, used, limit), (Limit::Tenant, 2000, 2000));
        }
        other => panic!("{other:?}"),
    }
    spool.enqueue(thousand("quiet", 'a')).await.unwrap();
    // A retry of what is here needs no room.
    assert_eq!(
        spool.enqueue(thousand("loud", 'b')).await.unwrap().id(),
        last.id()
    );
    spool.ack(vec![last.id()]).await.unwrap();
    spool.enqueue(thousand("loud", 'c')).await.unwrap();
    assert_eq!(spool.stats().dropped_total, 0);
}

#[tokio::test]
async fn a_full_spool_refuses_everybody() {
    let fixture = Fixture::with(limits(2, 2, Overflow::Refuse));
    let spool = fixture.open().await;
    spool.enqueue(thousand("a", 'a')).await.unwrap();
    spool.enqueue(thousand("b", 'a')).await.unwrap();
    let error = spool.enqueue(thousand("c", 'a')).await.unwrap_err();
    assert!(matches!(
        error,
        SpoolError::Full {
            whose: Limit::Everybody,
            ..
        }
    ));
}

#[tokio::test]
async fn what_fits_no_empty_spool_is_too_large() {
    let fixture = Fixture::with(limits(2, 1, Overflow::DropOldest));
    let spool = fixture.open().await;
    spool.enqueue(thousand("a", 'a')).await.unwrap();
    let large = NewEntry {
        payload: vec![0; 1000],
        ..entry("a", "b")
    };
    assert!(matches!(
        spool.enqueue(large).await,
        Err(SpoolError::TooLarge { .. })
    ));
    assert_eq!(spool.stats().pending.entries, 1);
}

#[tokio::test]
async fn the_oldest_of_the_tenant_make_room_and_the_count_survives() {
    let fixture = Fixture::with(limits(10, 3, Overflow::DropOldest));
    let spool = fixture.open().await;
    spool.enqueue(thousand("quiet", 'q')).await.unwrap();
    for key in 'a'..='h' {
        spool.enqueue(thousand("loud", key)).await.unwrap();
    }
    assert_eq!(spool.stats().dropped_total, 5);
    spool.close().await.unwrap();
    let spool = fixture.open().await;
    assert_eq!(spool.stats().dropped_total, 5);
    let mut left = spool.next_batch(10).await.unwrap();
    left.sort_by_key(|entry| entry.id);
    assert_eq!(keys(&left), ["q", "f", "g", "h"]);
}

#[tokio::test]
async fn when_all_is_full_the_tenant_that_uses_most_makes_room() {
    let fixture = Fixture::with(limits(4, 4, Overflow::DropOldest));
    let spool = fixture.open().await;
    spool.enqueue(thousand("quiet", 'q')).await.unwrap();
    for key in 'a'..='c' {
        spool.enqueue(thousand("loud", key)).await.unwrap();
    }
    spool.enqueue(thousand("new", 'n')).await.unwrap();
    let mut left = spool.next_batch(10).await.unwrap();
    left.sort_by_key(|entry| entry.id);
    assert_eq!(keys(&left), ["q", "b", "c", "n"]);
}

#[tokio::test]
async fn what_was_set_aside_makes_room_first_and_what_is_handed_out_never() {
    let fixture = Fixture::with(limits(3, 3, Overflow::DropOldest));
    let spool = fixture.open().await;
    for key in 'a'..='c' {
        spool.enqueue(thousand("t", key)).await.unwrap();
    }
    let out = spool.next_batch(3).await.unwrap();
    spool.set_aside(out[2].id, "no".to_owned()).await.unwrap();
    spool.enqueue(thousand("t", 'd')).await.unwrap();
    spool.enqueue(thousand("t", 'e')).await.unwrap();
    assert_eq!(spool.stats().dropped_total, 2);
    assert_eq!(keys(&spool.next_batch(9).await.unwrap()), ["e"]);
    assert!(matches!(
        spool.enqueue(thousand("t", 'f')).await,
        Err(SpoolError::Full { .. })
    ));
    assert_eq!(spool.ack(ids(&out)).await.unwrap(), 2);
}

#[tokio::test]
async fn nothing_is_dropped_for_an_entry_that_does_not_fit_after_all() {
    let fixture = Fixture::with(limits(3, 3, Overflow::DropOldest));
    let spool = fixture.open().await;
    for key in 'a'..='c' {
        spool.enqueue(thousand("t", key)).await.unwrap();
    }
    spool.next_batch(2).await.unwrap();
    let double = NewEntry {
        payload: vec![0; 1400],
        ..entry("t", "d")
    };
    let error = spool.enqueue(double).await.unwrap_err();
    assert!(matches!(error, SpoolError::Full { .. }));
    assert_eq!(spool.stats().dropped_total, 0);
    assert_eq!(keys(&spool.next_batch(9).await.unwrap()), ["c"]);
}

#[derive(Debug, Clone)]
enum Step {
    Enqueue { tenant: u8, key: u8, size: usize },
    Ack(prop::sample::Index),
    SetAside(prop::sample::Index),
    Requeue(prop::sample::Index),
    Discard(prop::sample::Index),
    Reopen,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (0_u8..3, 0_u8..30, 0_usize..900).prop_map(|(tenant, key, size)| Step::Enqueue { tenant, key, size }),
        2 => any::<prop::sample::Index>().prop_map(Step::Ack),
        2 => any::<prop::sample::Index>().prop_map(Step::SetAside),
        1 => any::<prop::sample::Index>().prop_map(Step::Requeue),
        1 => any::<prop::sample::Index>().prop_map(Step::Discard),
        1 => Just(Step::Reopen),
    ];
    prop::collection::vec(step, 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// A model beside the spool: the sums agree after every step, with what a reopened file adds up
    /// to as well, and no limit is ever passed.
    #[test]
    fn bytes_equal_the_sum_of_what_is_here(steps in steps(), drop_oldest: bool) {
        let overflow = if drop_oldest { Overflow::DropOldest } else { Overflow::Refuse };
        let fixture = Fixture::with(limits(6, 4, overflow));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let mut spool = fixture.open().await;
            let mut known = Vec::new();
            for step in steps {
                let pick = |at: &prop::sample::Index| known.get(at.index(known.len().max(1))).cloned();
                match step {
                    Step::Enqueue { tenant, key, size } => {
                        let name = format!("t{tenant}");
                        let new = NewEntry { payload: vec![key; size], ..entry(&name, &key.to_string()) };
                        if let Ok(queued) = spool.enqueue(new).await {
                            known.push((name, queued.id()));
                        }
                    }
                    Step::Ack(at) => if let Some((_, id)) = pick(&at) { spool.ack(vec![id]).await.unwrap(); },
                    Step::SetAside(at) => if let Some((_, id)) = pick(&at) {
                        spool.set_aside(id, "no".to_owned()).await.unwrap();
                    },
                    Step::Requeue(at) => if let Some((name, id)) = pick(&at) {
                        spool.requeue(tenant(&name), vec![id]).await.unwrap();
                    },
                    Step::Discard(at) => if let Some((name, id)) = pick(&at) {
                        spool.discard(tenant(&name), vec![id]).await.unwrap();
                    },
                    Step::Reopen => {
                        let before = spool.stats();
                        spool.close().await.unwrap();
                        spool = fixture.open().await;
                        let after = spool.stats();
                        assert_eq!((before.pending, before.set_aside, before.dropped_total),
                                   (after.pending, after.set_aside, after.dropped_total));
                    }
                }
                let stats = spool.stats();
                let mut sums = [0_u64; 3];
                let mut entries = 0;
                known.sort();
                known.dedup();
                for (name, id) in &known {
                    if let Some(entry) = spool.read(tenant(name), *id).await.unwrap() {
                        let slot = usize::from(name.as_bytes()[1] - b'0');
                        sums[slot] += (entry.payload.len() + entry.key.len()) as u64 + ENTRY_OVERHEAD;
                        entries += 1;
                    }
                }
                assert_eq!(stats.pending.bytes + stats.set_aside.bytes, sums.iter().sum::<u64>());
                assert_eq!(stats.pending.entries + stats.set_aside.entries, entries);
                assert!(sums.iter().sum::<u64>() <= fixture.config.max_bytes);
                for (n, sum) in sums.into_iter().enumerate() {
                    assert_eq!(spool.used_by(tenant(&format!("t{n}"))).await.unwrap(), sum);
                    assert!(sum <= fixture.config.per_tenant_bytes);
                }
            }
        });
    }
}
