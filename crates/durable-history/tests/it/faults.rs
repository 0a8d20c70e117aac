//! A store that fails in every way, under load: each turn once, each scope in order, memory bounded.

use std::collections::BTreeMap;
use std::time::Duration;

use throughline_durable_history::HistoryConfig;

use crate::flaky::Mode;
use crate::spooled::{open, small};
use crate::world::World;

const SCOPES: usize = 12;

const FAULTS: [Mode; 9] = [
    Mode::Up,
    Mode::Transport,
    Mode::LoseReply,
    Mode::Stall,
    Mode::Up,
    Mode::Timeout,
    Mode::Committed,
    Mode::ReadOnly,
    Mode::Panic,
];

/// Once each, and by commit order in the order of the calls, scope by scope.
async fn assert_once_and_in_order(world: &World, turns: usize) {
    let mut stored = world.all_stored().await;
    assert_eq!(stored.len(), turns);
    stored.sort_by_key(|turn| turn.seq);
    let mut by_scope: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for turn in stored {
        let number = turn.user_message.parse().unwrap();
        let scope = turn.scope.id().to_owned();
        by_scope.entry(scope).or_default().push(number);
    }
    for scope in 0..SCOPES {
        let expected: Vec<usize> = (scope..turns).step_by(SCOPES).collect();
        assert_eq!(by_scope[&format!("s{scope}")], expected);
    }
}

// A minute of it, 20 turns a second.
#[tokio::test(start_paused = true)]
async fn a_minute_of_faults_loses_and_doubles_nothing() {
    let world = World::new().await;
    let history = world.history_with(HistoryConfig {
        call_deadline: Duration::from_secs(1),
        ..HistoryConfig::default()
    });
    for n in 0..1_200 {
        if n % 40 == 0 {
            world.memory.set(FAULTS[n / 40 % FAULTS.len()]);
        }
        let scope = format!("s{}", n % SCOPES);
        world.say(&history, &scope, &n.to_string()).await;
        world.pass(Duration::from_millis(50)).await;
        if n % 7 == 0 {
            world.get(&history, &scope).await;
        }
        let waiting = world.metric("ccm_history_queue_depth", None)
            + world.metric("ccm_history_buffer_entries", None);
        assert!(waiting <= 1_024, "{waiting}");
    }
    world.memory.set(Mode::Up);
    history.flush().await;
    assert_eq!(world.dropped(), 0);
    assert_once_and_in_order(&world, 1_200).await;
}

// The same over the disk, in real time; the adapter starts anew in the middle of each fault.
#[tokio::test]
async fn faults_and_restarts_over_a_disk_lose_and_double_nothing() {
    let world = World::new().await;
    let directory = tempfile::tempdir().unwrap();
    let mut number = 0;
    for fault in FAULTS {
        let spool = open(&world, &directory, small()).await;
        let history = world.spooled(spool.clone());
        world.memory.set(fault);
        for _ in 0..60 {
            let scope = format!("s{}", number % SCOPES);
            world.say(&history, &scope, &number.to_string()).await;
            number += 1;
        }
        history.secured().await;
        for _ in 0..200 {
            tokio::task::yield_now().await;
        }
        drop(history);
        spool.close().await.unwrap();
    }
    world.memory.set(Mode::Up);
    let history = world.spooled(open(&world, &directory, small()).await);
    history.flush().await;
    assert_eq!(world.dropped(), 0);
    assert_once_and_in_order(&world, number).await;
}
