//! A channel delivers one message more than once (failures.md 4), or with NUL in it (T-60, 25).

use std::sync::atomic::Ordering;

use serde_json::json;
use throughline_durable_history::{ConversationHistory, FinishedTurn};

use crate::flaky::Mode;
use crate::world::{World, said};

fn slack(text: &str, ts: &str) -> FinishedTurn {
    FinishedTurn::new(text, "ok")
        .with_message_id(ts)
        .said_at_ms(1_700_000_000_000)
}

async fn hear(world: &World, history: &impl ConversationHistory, turn: FinishedTurn) {
    let append = async { history.append("C1/1700.0001", turn) };
    world.context().enter(append).await;
}

#[tokio::test(start_paused = true)]
async fn a_message_delivered_twice_is_one_turn() {
    let world = World::new().await;
    let history = world.history();
    for _ in 0..3 {
        hear(&world, &history, slack("hello", "1700.0001")).await;
    }
    hear(&world, &history, slack("hello", "1700.0002")).await;
    history.flush().await;
    assert_eq!(world.stored("C1/1700.0001").await, ["hello", "hello"]);
    let turns = world.get(&history, "C1/1700.0001").await;
    assert_eq!(said(&turns), ["hello", "hello"]);
    // The next process gets it again.
    let next = world.history();
    hear(&world, &next, slack("hello", "1700.0001")).await;
    next.flush().await;
    assert_eq!(world.stored("C1/1700.0001").await.len(), 2);
    for code in ["rejected", "timeout", "transport"] {
        assert_eq!(world.metric("ccm_write_failures_total", Some(code)), 0);
    }
}

// failures.md 11: a blank id names nothing.
#[tokio::test(start_paused = true)]
async fn turns_with_a_blank_id_are_turns_of_their_own() {
    let world = World::new().await;
    let history = world.history();
    for blank in ["", " ", ""] {
        hear(&world, &history, slack("hello", blank)).await;
    }
    history.flush().await;
    assert_eq!(world.get(&history, "C1/1700.0001").await.len(), 3);
    assert_eq!(world.stored("C1/1700.0001").await.len(), 3);
}

// The second delivery is the only copy: the process that had the first one is gone.
#[tokio::test(start_paused = true)]
async fn a_second_delivery_can_be_the_only_copy() {
    let world = World::new().await;
    let first = world.history();
    world.memory.set(Mode::Transport);
    hear(&world, &first, slack("hello", "1700.0001")).await;
    drop(first);
    world.memory.set(Mode::Up);
    let second = world.history();
    hear(&world, &second, slack("hello", "1700.0001")).await;
    second.flush().await;
    assert_eq!(world.stored("C1/1700.0001").await, ["hello"]);
}

// failures.md 2: another text under the same id never replaces the first.
#[tokio::test(start_paused = true)]
async fn another_text_under_the_same_id_is_refused_and_counted() {
    let world = World::new().await;
    let history = world.history();
    hear(&world, &history, slack("hello", "1700.0001")).await;
    history.flush().await;
    let next = world.history();
    hear(&world, &next, slack("something else", "1700.0001")).await;
    next.flush().await;
    assert_eq!(world.stored("C1/1700.0001").await, ["hello"]);
    assert_eq!(
        world.metric("ccm_write_failures_total", Some("rejected")),
        1
    );
}

// T-60: the ring has what was said, the store a turn that can be kept.
#[tokio::test(start_paused = true)]
async fn nul_is_replaced_on_the_way_out_and_never_retried() {
    let world = World::new().await;
    let history = world.history();
    let turn = FinishedTurn {
        tool_calls: Some(json!([{"name": "a\0b"}])),
        metadata: Some(json!({"k\0": "v\0"})),
        ..FinishedTurn::new("a\0b", "\0")
    };
    world
        .context()
        .enter(async { history.append("c\0d", turn) })
        .await;
    history.flush().await;
    let stored = world.all_stored().await.remove(0);
    assert_eq!(stored.user_message, "a\u{FFFD}b");
    assert_eq!(stored.assistant_answer, "\u{FFFD}");
    assert_eq!(stored.scope.id(), "c\u{FFFD}d");
    assert_eq!(stored.metadata.as_str(), "{\"k\u{FFFD}\":\"v\u{FFFD}\"}");
    assert_eq!(world.texts(&history, "c\0d").await, ["a\0b"]);
    assert_eq!(world.memory.appends.load(Ordering::SeqCst), 1);
}
