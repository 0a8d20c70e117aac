//! A memory service that comes and goes while the process lives (T-81).

use std::sync::atomic::Ordering;
use std::time::Duration;

use throughline_durable_history::{
    ConversationHistory, DurableConversationHistory, FinishedTurn, MemoryWatch,
};

use crate::world::{World, numbered};

#[tokio::test(start_paused = true)]
async fn a_service_that_comes_later_is_used_without_a_restart() {
    let world = World::new().await;
    let before = world.history();
    world.say(&before, "c", "long ago").await;
    before.flush().await;
    let (switch, watch) = MemoryWatch::absent();
    let history = DurableConversationHistory::start(world.parts(watch));
    world.clock.advance(Duration::from_secs(1));
    world.say(&history, "c", "while absent").await;
    assert_eq!(world.texts(&history, "c").await, ["while absent"]);
    assert_eq!(world.memory.histories.load(Ordering::SeqCst), 0);
    switch.present(world.service());
    // Cold scopes hydrate, what waited is stored.
    assert_eq!(
        world.texts(&history, "c").await,
        ["long ago", "while absent"]
    );
    history.flush().await;
    assert_eq!(world.stored("c").await, ["long ago", "while absent"]);
}

#[tokio::test(start_paused = true)]
async fn a_service_that_goes_away_is_no_error_and_what_was_said_meanwhile_is_stored_later() {
    let world = World::new().await;
    let (switch, watch) = MemoryWatch::absent();
    switch.present(world.service());
    let history = DurableConversationHistory::start(world.parts(watch));
    for round in 0..3 {
        world
            .say(&history, "c", &format!("turn {}", round * 2))
            .await;
        history.flush().await;
        switch.absent();
        let text = format!("turn {}", round * 2 + 1);
        world.say(&history, "c", &text).await;
        world.pass(Duration::from_mins(5)).await;
        assert!(world.texts(&history, "c").await.contains(&text));
        switch.present(world.service());
    }
    history.flush().await;
    assert_eq!(world.stored("c").await, numbered(0..6));
    assert_eq!(world.dropped(), 0);
}

// where there will never be a memory nothing is kept for it, and nothing counted.
#[tokio::test(start_paused = true)]
async fn without_a_service_for_ever_nothing_waits() {
    let world = World::new().await;
    let history = DurableConversationHistory::start(world.parts(MemoryWatch::never()));
    for n in 0..3_000 {
        world.say(&history, &format!("s{n}"), "hi").await;
    }
    history.flush().await;
    assert_eq!(world.dropped(), 0);
    assert_eq!(world.metric("ccm_history_waiting_bytes", None), 0);
}

// The switch is dropped while the service is present: what it said last stays so.
#[tokio::test(start_paused = true)]
async fn a_switch_that_is_gone_leaves_the_service_as_it_was() {
    let world = World::new().await;
    let (switch, watch) = MemoryWatch::absent();
    switch.present(world.service());
    drop(switch);
    let history = DurableConversationHistory::start(world.parts(watch));
    world.say(&history, "c", "a").await;
    history.flush().await;
    assert_eq!(world.stored("c").await, ["a"]);
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_writes_what_waits_and_says_what_it_could_not() {
    let world = World::new().await;
    let history = world.history();
    for text in numbered(0..250) {
        world.say(&history, "c", &text).await;
    }
    let left = history.shutdown(Duration::from_secs(5)).await;
    assert_eq!((left.in_memory, left.on_disk), (0, 0));
    assert_eq!(world.all_stored().await.len(), 250);
    world.memory.set(crate::flaky::Mode::Stall);
    let history = world.history();
    history.append("c", FinishedTurn::new("without a context", ""));
    world.say(&history, "c", "lost").await;
    let left = history.shutdown(Duration::from_secs(5)).await;
    assert_eq!((left.in_memory, left.on_disk), (1, 0));
}
