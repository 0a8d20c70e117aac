//! Cold scopes: what comes back, once, and what does not (R-091, T-23, T-24, T-25, T-28).

use std::sync::atomic::Ordering;
use std::time::Duration;

use throughline_durable_history::{ConversationHistory, FinishedTurn, HistoryConfig, Projection};

use crate::flaky::Mode;
use crate::world::{World, numbered, said};

/// A world whose store has these turns in scope `c`, from a process before.
async fn with_past(texts: &[String]) -> World {
    let world = World::new().await;
    let before = world.history();
    for text in texts {
        world.clock.advance(Duration::from_secs(1));
        world.say(&before, "c", text).await;
    }
    before.flush().await;
    assert_eq!(world.stored("c").await, texts);
    world.clock.advance(Duration::from_mins(1));
    world
}

// T-23, R-091
#[tokio::test(start_paused = true)]
async fn get_then_append_hydrates_once() {
    let world = with_past(&numbered(0..4)).await;
    let history = world.history();
    let turns = world.get(&history, "c").await;
    assert_eq!(said(&turns), numbered(0..4));
    // T-28
    assert!(
        turns
            .iter()
            .all(|turn| turn.projection == Projection::Redacted)
    );
    assert_eq!(turns[3].timestamp_ms, world.now_ms() - 60_000);
    world.say(&history, "c", "turn 4").await;
    history.flush().await;
    let turns = world.get(&history, "c").await;
    assert_eq!(said(&turns), numbered(0..5));
    assert_eq!(turns[4].projection, Projection::Raw);
    assert_eq!(world.memory.histories.load(Ordering::SeqCst), 1);
    assert_eq!(
        world.metric("ccm_history_hydrations_total", Some("found")),
        1
    );
}

// T-23: the other way round; stored meanwhile or not, each turn is there once.
#[tokio::test(start_paused = true)]
async fn append_then_get_hydrates_once_and_merges() {
    for stored_meanwhile in [true, false] {
        let world = with_past(&numbered(0..4)).await;
        let history = world.history();
        world.say(&history, "c", "turn 4").await;
        if stored_meanwhile {
            history.flush().await;
        }
        assert_eq!(world.texts(&history, "c").await, numbered(0..5));
        history.flush().await;
        world.say(&history, "c", "turn 5").await;
        assert_eq!(world.texts(&history, "c").await, numbered(0..6));
        assert_eq!(world.memory.histories.load(Ordering::SeqCst), 1);
    }
}

// T-23, T-15: the store has the turn and the adapter does not know it.
#[tokio::test(start_paused = true)]
async fn a_turn_whose_answer_was_lost_is_not_shown_twice() {
    let world = with_past(&numbered(0..2)).await;
    let history = world.history();
    world.memory.set(Mode::LoseReply);
    world.say(&history, "c", "turn 2").await;
    world.say(&history, "c", "turn 2").await;
    world.pass(Duration::from_millis(1)).await;
    assert_eq!(world.stored("c").await.len(), 4);
    let texts = world.texts(&history, "c").await;
    assert_eq!(texts, ["turn 0", "turn 1", "turn 2", "turn 2"]);
}

// never more than the ring holds, the latest.
#[tokio::test(start_paused = true)]
async fn a_long_past_is_cut_to_what_the_ring_holds() {
    let world = with_past(&numbered(0..15)).await;
    let history = world.history();
    assert_eq!(world.texts(&history, "c").await, numbered(5..15));
    world.say(&history, "c", "turn 15").await;
    assert_eq!(world.texts(&history, "c").await, numbered(6..16));
}

// T-24
#[tokio::test(start_paused = true)]
async fn what_is_older_than_a_day_stays_in_the_store() {
    let world = with_past(&numbered(0..2)).await;
    world.clock.advance(Duration::from_hours(23));
    let later = world.history();
    world.say(&later, "c", "turn 2").await;
    later.flush().await;
    world.clock.advance(Duration::from_hours(1));
    let history = world.history();
    let shown = world.texts(&history, "c").await;
    assert_eq!(shown, ["turn 2"]);
    assert_eq!(world.stored("c").await, numbered(0..3));
}

// T-24: idle is cold, not cleared: within the age limit it comes back, masked like anything stored.
#[tokio::test(start_paused = true)]
async fn an_idle_scope_is_cold_and_hydrates_again() {
    let world = World::new().await;
    let history = world.history();
    world.say(&history, "c", "a").await;
    history.flush().await;
    world.clock.advance(Duration::from_hours(3));
    let turns = world.get(&history, "c").await;
    assert_eq!(said(&turns), ["a"]);
    assert_eq!(turns[0].projection, Projection::Redacted);
}

#[tokio::test(start_paused = true)]
async fn an_empty_past_is_asked_for_once() {
    let world = World::new().await;
    let history = world.history();
    for _ in 0..5 {
        assert_eq!(world.texts(&history, "c").await, numbered(0..0));
    }
    assert_eq!(world.memory.histories.load(Ordering::SeqCst), 1);
    assert_eq!(
        world.metric("ccm_history_hydrations_total", Some("empty")),
        1
    );
}

#[tokio::test(start_paused = true)]
async fn many_callers_of_a_cold_scope_are_one_read() {
    let world = with_past(&numbered(0..3)).await;
    let history = world.history();
    let gets = (0..50).map(|_| world.texts(&history, "c"));
    for texts in futures_util::future::join_all(gets).await {
        assert_eq!(texts, numbered(0..3));
    }
    assert_eq!(world.memory.histories.load(Ordering::SeqCst), 1);
}

// A bot does not notice: a stalled store costs one deadline, and then nothing for a while.
#[tokio::test(start_paused = true)]
async fn a_get_waits_for_a_stalled_store_once_and_not_for_long() {
    let world = with_past(&numbered(0..3)).await;
    let history = world.history();
    world.memory.set(Mode::Stall);
    world.say(&history, "c", "new").await;
    let begun = tokio::time::Instant::now();
    assert_eq!(world.texts(&history, "c").await, ["new"]);
    assert_eq!(begun.elapsed(), HistoryConfig::default().hydrate_deadline);
    for scope in ["c", "d", "e"] {
        world.get(&history, scope).await;
    }
    assert_eq!(begun.elapsed(), HistoryConfig::default().hydrate_deadline);
    assert_eq!(
        world.metric("ccm_read_failures_total", Some("getByChannelScope")),
        1
    );
    assert_eq!(
        world.metric("ccm_write_failures_total", Some("timeout")),
        0,
        "T-82"
    );
    world.memory.set(Mode::Up);
    world.pass(HistoryConfig::default().hydrate_pause).await;
    let texts = world.texts(&history, "c").await;
    assert_eq!(
        texts,
        ["turn 0", "turn 1", "turn 2", "new"],
        "still cold, so it is read now"
    );
}

// failures.md 34: the documented fallback; the scope stays cold.
#[tokio::test(start_paused = true)]
async fn a_failed_read_answers_with_what_is_here_and_is_tried_again() {
    let world = with_past(&numbered(0..2)).await;
    let history = world.history();
    world.memory.set(Mode::Transport);
    assert_eq!(world.texts(&history, "c").await, numbered(0..0));
    world.memory.set(Mode::Up);
    world.pass(Duration::from_secs(6)).await;
    assert_eq!(world.texts(&history, "c").await, numbered(0..2));
}

// T-82: what cannot be read is no write that failed.
#[tokio::test(start_paused = true)]
async fn a_get_of_a_scope_that_no_store_can_name_counts_nothing() {
    let world = World::new().await;
    let history = world.history();
    assert_eq!(
        world.texts(&history, &"s".repeat(513)).await,
        numbered(0..0)
    );
    assert_eq!(
        world.metric("ccm_write_failures_total", Some("rejected")),
        0
    );
    assert_eq!(world.memory.histories.load(Ordering::SeqCst), 0);
}

// failures.md 24: a group's history holds everybody's turns, each stored for its own sender.
#[tokio::test(start_paused = true)]
async fn each_turn_of_a_group_is_its_senders() {
    use throughline_platform_identity::PlatformIdentity;
    let world = World::new().await;
    let history = world.history();
    let omar = crate::world::sender("77");
    let context = throughline_durable_history::TurnContext::of(world.tenant.clone());
    world.say(&history, "group", "mina's").await;
    let says = async { history.append("group", FinishedTurn::new("omar's", "")) };
    context.said_by(omar.clone()).enter(says).await;
    history.flush().await;
    let mine: Vec<String> = world
        .all_stored()
        .await
        .into_iter()
        .map(|turn| turn.user_message)
        .collect();
    assert_eq!(mine, ["mina's"]);
    let found = world.store.lookup(&world.tenant, &omar.id).await.unwrap();
    assert!(found.is_some_and(|user| user != world.mina));
    let other = world.history();
    assert_eq!(world.texts(&other, "group").await, ["mina's", "omar's"]);
}
