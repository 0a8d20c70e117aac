//! A cleared scope stays cleared (T-24).

use std::time::Duration;

use throughline_durable_history::ConversationHistory;

use crate::flaky::Mode;
use crate::world::{World, named, numbered};

#[tokio::test(start_paused = true)]
async fn cleared_turns_do_not_come_back_here_or_in_the_next_process() {
    let world = World::new().await;
    let history = world.history();
    world.say(&history, "c", "before").await;
    world.context().enter(async { history.clear("c") }).await;
    history.flush().await;
    assert_eq!(world.texts(&history, "c").await, numbered(0..0));
    world.clock.advance(Duration::from_secs(1));
    world.say(&history, "c", "after").await;
    history.flush().await;
    let next = world.history();
    assert_eq!(world.texts(&next, "c").await, ["after"]);
    // A person's memory across channels is not a scope's history.
    assert_eq!(world.all_stored().await.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_topic_reset_is_a_clearing_too() {
    let world = World::new().await;
    let history = world.history();
    world.say(&history, "c", "before").await;
    world.context().enter(async { history.reset("c") }).await;
    history.flush().await;
    assert_eq!(world.stored("c").await, numbered(0..0));
}

// While the store has not heard of it, the clearing holds here.
#[tokio::test(start_paused = true)]
async fn a_clearing_holds_while_the_store_is_away() {
    let world = World::new().await;
    let history = world.history();
    world.say(&history, "c", "before").await;
    history.flush().await;
    world.memory.set(Mode::Transport);
    world.context().enter(async { history.clear("c") }).await;
    world.clock.advance(Duration::from_secs(1));
    world.say(&history, "c", "after").await;
    assert_eq!(world.texts(&history, "c").await, ["after"]);
    // The store answers reads again before the line is tried again.
    world.memory.set(Mode::Up);
    world.pass(Duration::from_secs(6)).await;
    assert_eq!(world.texts(&history, "c").await, ["after"]);
    history.flush().await;
    assert_eq!(
        world.stored("c").await,
        ["after"],
        "in the order of the calls"
    );
}

// Reads are answered all the while, so that a cold scope would get everything back.
#[tokio::test(start_paused = true)]
async fn a_clearing_the_store_has_not_heard_of_holds_against_what_it_has() {
    let world = World::new().await;
    let history = world.history();
    world.say(&history, "c", "before").await;
    history.flush().await;
    world.memory.set(Mode::ReadOnly);
    world.clock.advance(Duration::from_secs(1));
    world.context().enter(async { history.clear("c") }).await;
    assert_eq!(world.texts(&history, "c").await, numbered(0..0));
    world.pass(Duration::from_hours(3)).await;
    assert_eq!(world.stored("c").await, ["before"]);
    assert_eq!(
        world.texts(&history, "c").await,
        numbered(0..0),
        "cold again"
    );
    world.memory.set(Mode::Up);
    history.flush().await;
    assert_eq!(world.stored("c").await, numbered(0..0));
}

// The clearing comes between a read and its answer.
#[tokio::test(start_paused = true)]
async fn a_read_that_a_clearing_overtook_is_not_used() {
    let world = World::new().await;
    let before = world.history();
    world.say(&before, "c", "before").await;
    before.flush().await;
    let history = std::sync::Arc::new(world.history());
    let (other, context) = (history.clone(), world.context());
    let store = world.store.clone();
    let (tenant, scope) = (world.tenant.clone(), named("c"));
    *world.memory.after_history.lock() = Some(Box::new(move || {
        let clear = context.enter(async move { other.clear("c") });
        futures_util::FutureExt::now_or_never(clear).expect("does not wait");
        let stored =
            throughline_conversation_memory::ConversationMemory::clear(&*store, &tenant, &scope);
        futures_util::FutureExt::now_or_never(stored)
            .expect("does not wait")
            .unwrap();
    }));
    assert_eq!(world.texts(&*history, "c").await, numbered(0..0));
}
