//! The five answers of an append, and the fallbacks in their order.

use std::sync::atomic::Ordering;
use std::time::Duration;

use throughline_durable_history::{DurableConversationHistory, HistoryConfig, MemoryWatch};

use crate::flaky::Mode;
use crate::world::{World, numbered};

const CODES: [&str; 4] = ["committed", "rejected", "timeout", "transport"];

fn failures(world: &World) -> [i64; 4] {
    CODES.map(|code| world.metric("ccm_write_failures_total", Some(code)))
}

fn with_outbox(world: &World) -> DurableConversationHistory {
    let service = world.service().with_outbox(world.outbox.clone());
    DurableConversationHistory::start(world.parts(MemoryWatch::always(service)))
}

#[tokio::test(start_paused = true)]
async fn success_is_stored_and_counts_nothing() {
    let world = World::new().await;
    let history = with_outbox(&world);
    world.say(&history, "c", "a").await;
    history.flush().await;
    assert_eq!(world.stored("c").await, ["a"]);
    assert_eq!(failures(&world), [0; 4]);
    assert_eq!(*world.outbox.kept.lock(), numbered(0..0));
}

#[tokio::test(start_paused = true)]
async fn committed_is_success_without_an_outbox_row() {
    let world = World::new().await;
    let history = with_outbox(&world);
    world.memory.set(Mode::Committed);
    world.say(&history, "c", "a").await;
    history.flush().await;
    assert_eq!(world.stored("c").await, ["a"]);
    assert_eq!(failures(&world), [1, 0, 0, 0]);
    assert_eq!(*world.outbox.kept.lock(), numbered(0..0));
    assert_eq!(world.memory.appends.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn rejected_is_not_tried_again_and_stays_in_the_ring() {
    let world = World::new().await;
    let history = with_outbox(&world);
    world.memory.set(Mode::Reject);
    world.say(&history, "c", "a").await;
    history.flush().await;
    world.memory.set(Mode::Up);
    world.pass(Duration::from_mins(10)).await;
    assert_eq!(world.stored("c").await, numbered(0..0));
    assert_eq!(world.texts(&history, "c").await, ["a"]);
    assert_eq!(failures(&world), [0, 1, 0, 0]);
    assert_eq!(*world.outbox.kept.lock(), numbered(0..0));
    assert_eq!(world.memory.appends.load(Ordering::SeqCst), 1);
}

// failures.md 7: what no store takes is refused by the adapter itself, and costs nobody else.
#[tokio::test(start_paused = true)]
async fn an_oversized_turn_is_rejected_without_being_sent() {
    let world = World::new().await;
    let history = with_outbox(&world);
    world.say(&history, "c", &"x".repeat(256 * 1024 + 1)).await;
    world.say(&history, "c", "a").await;
    world
        .say(&history, &"s".repeat(513), "in a scope nobody can name")
        .await;
    history.flush().await;
    assert_eq!(world.stored("c").await, ["a"]);
    assert_eq!(failures(&world), [0, 2, 0, 0]);
    assert_eq!(world.memory.turns_offered.load(Ordering::SeqCst), 1);
    assert_eq!(world.get(&history, "c").await.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn timeout_and_transport_go_to_the_outbox() {
    for (mode, counted) in [
        (Mode::Timeout, [0, 0, 1, 0]),
        (Mode::Transport, [0, 0, 0, 1]),
        // No answer at all is a timeout after the adapter's own deadline.
        (Mode::Stall, [0, 0, 1, 0]),
    ] {
        let world = World::new().await;
        let history = with_outbox(&world);
        world.memory.set(mode);
        world.say(&history, "c", "a").await;
        history.flush().await;
        assert_eq!(*world.outbox.kept.lock(), ["a"], "{mode:?}");
        assert_eq!(failures(&world), counted, "{mode:?}");
        assert_eq!(world.dropped(), 0);
    }
}

// outbox away too → the buffer, drained after the next success; in the order of the calls.
#[tokio::test(start_paused = true)]
async fn with_the_outbox_away_turns_wait_and_are_stored_in_order() {
    let world = World::new().await;
    let history = with_outbox(&world);
    world.memory.set(Mode::Transport);
    *world.outbox.away.lock() = true;
    for text in numbered(0..30) {
        world.clock.advance(Duration::from_millis(1));
        world.say(&history, "c", &text).await;
        world.pass(Duration::from_millis(40)).await;
    }
    assert_eq!(world.stored("c").await, numbered(0..0));
    let waiting = world.metric("ccm_history_buffer_entries", None)
        + world.metric("ccm_history_queue_depth", None);
    assert_eq!(waiting, 30, "{waiting}");
    world.memory.set(Mode::Up);
    world.say(&history, "c", "turn 30").await;
    history.flush().await;
    assert_eq!(world.stored("c").await, numbered(0..31));
    assert_eq!(world.metric("ccm_history_buffer_entries", None), 0);
}

// T-37: the outbox knows that the user is gone.
#[tokio::test(start_paused = true)]
async fn what_the_outbox_refuses_for_good_does_not_wait() {
    let world = World::new().await;
    let history = with_outbox(&world);
    world.memory.set(Mode::Timeout);
    *world.outbox.gone.lock() = true;
    world.say(&history, "c", "a").await;
    history.flush().await;
    assert_eq!(failures(&world), [0, 1, 1, 0]);
}

// under its key, whatever became of the first answer.
#[tokio::test(start_paused = true)]
async fn a_turn_whose_answers_are_lost_is_stored_once() {
    let world = World::new().await;
    let history = world.history();
    world.memory.set(Mode::LoseReply);
    for text in numbered(0..20) {
        world.say(&history, "c", &text).await;
    }
    for _ in 0..20 {
        world.pass(Duration::from_secs(12)).await;
    }
    world.memory.set(Mode::Up);
    history.flush().await;
    assert_eq!(world.stored("c").await, numbered(0..20));
    assert_eq!(failures(&world), [0, 0, 20, 0], "counted once a turn");
}

// failures.md 30: one turn that never gets through holds nobody else up for long.
#[tokio::test(start_paused = true)]
async fn a_poisoned_turn_does_not_hold_up_others() {
    let world = World::new().await;
    let history = world.history();
    *world.memory.poison.lock() = vec!["turn 3".to_owned()];
    for text in numbered(0..8) {
        world.say(&history, "c", &text).await;
    }
    world.say(&history, "d", "elsewhere").await;
    for _ in 0..10 {
        world.pass(HistoryConfig::default().backoff.most * 2).await;
    }
    assert_eq!(world.stored("d").await, ["elsewhere"]);
    let stored = world.stored("c").await;
    assert_eq!(stored.len(), 7, "{stored:?}");
    world.memory.poison.lock().clear();
    history.flush().await;
    assert_eq!(world.stored("c").await.len(), 8);
}

// failures.md 30, without a disk.
#[tokio::test(start_paused = true)]
async fn a_hundred_poisoned_turns_do_not_hold_up_a_good_one() {
    let world = World::new().await;
    let history = world.history();
    let poison: Vec<String> = (0..100).map(|n| format!("poison {n}")).collect();
    *world.memory.poison.lock() = poison.clone();
    for (n, text) in poison.iter().enumerate() {
        world.say(&history, &format!("p{}", n % 60), text).await;
    }
    world.say(&history, "good", "good").await;
    for _ in 0..4 {
        world.pass(Duration::from_millis(500)).await;
    }
    assert_eq!(world.stored("good").await, ["good"]);
    world.memory.poison.lock().clear();
    history.flush().await;
    assert_eq!(world.all_stored().await.len(), 101);
    assert_eq!(failures(&world), [0, 0, 0, 100]);
}

// What writes for everybody goes on.
#[tokio::test(start_paused = true)]
async fn a_memory_that_panics_loses_nothing() {
    let world = World::new().await;
    let history = world.history();
    world.memory.set(Mode::Panic);
    for text in numbered(0..5) {
        world.say(&history, "c", &text).await;
    }
    world.pass(Duration::from_secs(1)).await;
    assert_eq!(world.stored("c").await, numbered(0..0));
    world.memory.set(Mode::Up);
    history.flush().await;
    assert_eq!(world.stored("c").await, numbered(0..5));
}
