//! Half an hour without a store, 5,000 turns: what waits is bounded, and what is lost is counted exactly.

use std::time::Duration;

use throughline_durable_history::{DurableConversationHistory, HistoryConfig};

use crate::flaky::Mode;
use crate::world::{World, numbered};

const TURNS: usize = 5_000;
const SCOPES: usize = 7;

/// Says turn after turn for half an hour.
async fn talk_through_an_outage(world: &World, history: &DurableConversationHistory) {
    let step = Duration::from_mins(30) / u32::try_from(TURNS).unwrap();
    for (n, text) in numbered(0..TURNS).into_iter().enumerate() {
        world.say(history, &format!("s{}", n % SCOPES), &text).await;
        world.pass(step).await;
        if n % 16 != 0 {
            continue;
        }
        let waiting = world.metric("ccm_history_queue_depth", None)
            + world.metric("ccm_history_buffer_entries", None);
        assert!(waiting <= 1_024, "{waiting} wait after turn {n}");
    }
}

async fn assert_the_latest_are_stored_in_order(world: &World, dropped: usize) {
    let stored: Vec<String> = world
        .all_stored()
        .await
        .into_iter()
        .map(|turn| turn.user_message)
        .collect();
    assert_eq!(
        stored,
        numbered(dropped..TURNS),
        "the oldest went, each other once"
    );
    for scope in 0..SCOPES {
        // By the order of storing, too: `seq` decides between turns of one moment.
        let told = world.stored(&format!("s{scope}")).await;
        let mut expected: Vec<String> = (dropped..TURNS)
            .filter(|n| n % SCOPES == scope)
            .map(|n| format!("turn {n}"))
            .collect();
        expected.drain(..expected.len().saturating_sub(100));
        assert_eq!(told, expected);
    }
}

async fn assert_the_buffer_keeps_the_latest_1024(mode: Mode) {
    let world = World::new().await;
    let history = world.history();
    world.memory.set(mode);
    talk_through_an_outage(&world, &history).await;
    let lost = TURNS - 1_024;
    let exact = i64::try_from(lost).unwrap();
    assert_eq!(world.dropped(), exact);
    world.memory.set(Mode::Up);
    history.flush().await;
    assert_eq!(world.dropped(), exact);
    assert_the_latest_are_stored_in_order(&world, lost).await;
}

#[tokio::test(start_paused = true)]
async fn an_unreachable_store_costs_all_but_the_latest_1024_turns() {
    assert_the_buffer_keeps_the_latest_1024(Mode::Transport).await;
}

#[tokio::test(start_paused = true)]
async fn a_store_that_times_out_costs_all_but_the_latest_1024_turns() {
    assert_the_buffer_keeps_the_latest_1024(Mode::Timeout).await;
}

// A call that is just being made may still succeed: it is not dropped, so the count stays exact.
#[tokio::test(start_paused = true)]
async fn what_is_being_written_is_neither_dropped_nor_counted() {
    let world = World::new().await;
    let history = world.history_with(HistoryConfig {
        call_deadline: Duration::from_hours(1),
        ..HistoryConfig::default()
    });
    world.memory.set(Mode::Stall);
    for text in numbered(0..100) {
        world.say(&history, "c", &text).await;
    }
    world.pass(Duration::from_millis(1)).await;
    for text in numbered(100..2_000) {
        world.say(&history, "c", &text).await;
    }
    assert_eq!(world.dropped(), 976, "2,000 − 1,024");
    world.memory.set(Mode::Up);
    world.pass(Duration::from_hours(1)).await;
    history.flush().await;
    let stored: Vec<String> = world
        .all_stored()
        .await
        .into_iter()
        .map(|turn| turn.user_message)
        .collect();
    let expected = [numbered(0..100), numbered(1_076..2_000)].concat();
    assert_eq!(stored, expected);
}

// Bounded in bytes as well.
#[tokio::test(start_paused = true)]
async fn large_turns_are_bounded_by_their_bytes() {
    let world = World::new().await;
    let history = world.history_with(HistoryConfig {
        waiting_bytes: 1 << 20,
        ..HistoryConfig::default()
    });
    world.memory.set(Mode::Transport);
    for n in 0..100 {
        let text = format!("{n:05}{}", "x".repeat(100_000));
        world.say(&history, "c", &text).await;
    }
    let bytes = world.metric("ccm_history_waiting_bytes", None);
    assert!(bytes <= 1 << 20, "{bytes}");
    let waiting = world.metric("ccm_history_queue_depth", None)
        + world.metric("ccm_history_buffer_entries", None);
    assert_eq!(waiting + world.dropped(), 100);
    assert!(waiting > 3);
}

// The ring is bounded in bytes, whatever becomes of the store.
#[tokio::test(start_paused = true)]
async fn large_turns_leave_the_ring_scope_by_scope() {
    let world = World::new().await;
    let mut config = HistoryConfig::default();
    config.hot.bytes = 1 << 20;
    let history = world.history_with(config);
    world.memory.set(Mode::Transport);
    for n in 0..100 {
        world
            .say(&history, &format!("s{n}"), &"x".repeat(50_000))
            .await;
    }
    let mut kept = Vec::new();
    for n in 0..100 {
        if !world.texts(&history, &format!("s{n}")).await.is_empty() {
            kept.push(n);
        }
    }
    // Question and answer are 100,004 bytes: ten scopes fit.
    assert_eq!(kept, (90..100).collect::<Vec<_>>());
}

// T-22: one tenant's outage does not push another's turns out.
#[tokio::test(start_paused = true)]
async fn the_tenant_with_most_that_waits_gives_way() {
    use throughline_durable_history::{ConversationHistory, FinishedTurn, TurnContext};
    use throughline_tenancy::{Tenancy, TenantConfig};
    let world = World::new().await;
    let history = world.history();
    let noisy = throughline_domain::TenantId::parse("noisy").unwrap();
    let made = world.store.create_tenant(&noisy, TenantConfig::default());
    made.await.unwrap();
    world.memory.set(Mode::Transport);
    for text in numbered(0..10) {
        world.say(&history, "c", &text).await;
    }
    let context = TurnContext::of(noisy).with_user(world.mina);
    for _ in 0..3_000 {
        let say = async { history.append("c", FinishedTurn::new("noise", "")) };
        context.clone().enter(say).await;
    }
    world.memory.set(Mode::Up);
    history.flush().await;
    assert_eq!(world.stored("c").await, numbered(0..10));
}
