//! Order per scope, and who waits for whom (T-49).

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use proptest::prelude::*;
use throughline_durable_history::{ConversationHistory, FinishedTurn, HistoryConfig};

use crate::flaky::Mode;
use crate::world::{World, numbered};

#[tokio::test(start_paused = true)]
async fn turns_that_wait_are_written_together() {
    let world = World::new().await;
    let history = world.history();
    for text in numbered(0..250) {
        world.say(&history, "c", &text).await;
    }
    history.flush().await;
    assert_eq!(world.memory.appends.load(Ordering::SeqCst), 3);
    assert_eq!(world.all_stored().await.len(), 250);
}

// A service limits what it is sent in one body.
#[tokio::test(start_paused = true)]
async fn a_write_is_bounded_in_bytes_though_one_turn_always_fits() {
    let world = World::new().await;
    let history = world.history();
    for _ in 0..3 {
        for _ in 0..6 {
            world.say(&history, "c", &"x".repeat(90_000)).await;
        }
        let answer = "y".repeat(1 << 20);
        let long = FinishedTurn::new("x".repeat(256 << 10), answer);
        world
            .context()
            .enter(async { history.append("c", long) })
            .await;
    }
    history.flush().await;
    assert_eq!(world.all_stored().await.len(), 21);
    let largest = world.memory.largest.load(Ordering::SeqCst);
    assert_eq!(largest, (1 << 20) + (256 << 10), "the long one alone");
}

// The memory goes up and down between the turns of many scopes; what is read back is in the order of the
// calls, by commit order too: all turns have one moment.
fn in_order(steps: Vec<(u8, u8)>, batch: usize) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(async {
        let world = World::new().await;
        let history = world.history_with(HistoryConfig {
            batch,
            ..HistoryConfig::default()
        });
        let mut said: Vec<Vec<String>> = vec![Vec::new(); 4];
        for (n, (scope, then)) in steps.into_iter().enumerate() {
            let text = format!("turn {n}");
            world.say(&history, &format!("s{scope}"), &text).await;
            said[usize::from(scope)].push(text);
            match then {
                0 => world.memory.set(Mode::Transport),
                1 => world.memory.set(Mode::LoseReply),
                2 => world.memory.set(Mode::Up),
                3 => world.pass(Duration::from_millis(200)).await,
                4 => tokio::task::yield_now().await,
                _ => {}
            }
        }
        world.memory.set(Mode::Up);
        history.flush().await;
        for (scope, expected) in said.iter().enumerate() {
            assert_eq!(&world.stored(&format!("s{scope}")).await, expected);
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn a_scopes_turns_are_stored_in_order_once(
        steps in proptest::collection::vec((0_u8..4, 0_u8..7), 0..90), batch in 1_usize..9,
    ) {
        in_order(steps, batch);
    }
}

// Many writers at once: nothing is lost, nothing doubled, each writer's own order holds.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_tasks_append_at_once() {
    let world = World::new().await;
    let history = Arc::new(world.history());
    let tasks = tokio_util::task::TaskTracker::new();
    for scope in 0..16 {
        let (history, context) = (history.clone(), world.context());
        tasks.spawn(context.enter(async move {
            for n in 0..50 {
                history.append(
                    &format!("s{scope}"),
                    FinishedTurn::new(format!("turn {n}"), ""),
                );
                tokio::task::yield_now().await;
            }
        }));
    }
    tasks.close();
    tasks.wait().await;
    history.flush().await;
    assert_eq!(world.dropped(), 0);
    for scope in 0..16 {
        assert_eq!(world.stored(&format!("s{scope}")).await, numbered(0..50));
    }
}
