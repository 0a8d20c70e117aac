//! With a disk: what waits survives the process, in order, once (D-15, T-39, failures.md 30).

use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;
use throughline_durable_history::{
    ConversationHistory, DurableConversationHistory, FinishedTurn, HistorySpool, MemoryWatch,
    Parts, TurnContext,
};
use throughline_spool::{ENTRY_OVERHEAD, SpoolConfig, SpoolKey};

use crate::flaky::Mode;
use crate::world::{World, ids, numbered, quick, sender};

pub(crate) fn key() -> SpoolKey {
    SpoolKey::from_bytes(std::array::from_fn(|i| u8::try_from(i * 3).unwrap()))
}

/// Syncs at once: tests that do not look at gathering do not wait for it.
pub(crate) fn small() -> SpoolConfig {
    SpoolConfig {
        flush_interval: Duration::ZERO,
        ..SpoolConfig::default()
    }
}

pub(crate) async fn open(
    world: &World,
    directory: &TempDir,
    config: SpoolConfig,
) -> Arc<HistorySpool> {
    HistorySpool::open(directory.path(), config, &key(), world.clock.clone(), ids())
        .await
        .unwrap()
}

/// Everything is on disk, and that many wait there.
async fn on_disk(world: &World, history: &DurableConversationHistory, turns: i64) {
    history.secured().await;
    let spooled = world.metric("ccm_history_spool_entries", None);
    assert_eq!(spooled, turns);
}

#[tokio::test]
async fn turns_go_through_the_disk_to_the_store_in_order() {
    let world = World::new().await;
    let directory = tempfile::tempdir().unwrap();
    let spool = open(&world, &directory, small()).await;
    let history = world.spooled(spool);
    for text in numbered(0..300) {
        world.say(&history, "c", &text).await;
    }
    history.flush().await;
    let stored: Vec<String> = world
        .all_stored()
        .await
        .into_iter()
        .map(|turn| turn.user_message)
        .collect();
    assert_eq!(stored, numbered(0..300));
    assert_eq!(world.metric("ccm_history_spool_entries", None), 0);
    assert_eq!(history.shutdown(Duration::from_secs(1)).await.on_disk, 0);
}

// The adapter is gone without a word while the store is away; the next one writes what it left, in order
// and once, and its own past comes back with it.
#[tokio::test]
async fn what_a_process_left_on_disk_is_stored_by_the_next() {
    let world = World::new().await;
    let directory = tempfile::tempdir().unwrap();
    {
        let spool = open(&world, &directory, small()).await;
        let history = world.spooled(spool.clone());
        world.memory.set(Mode::LoseReply);
        for text in numbered(0..5) {
            world.say(&history, "c", &text).await;
        }
        while world.stored("c").await.len() < 5 {
            tokio::task::yield_now().await;
        }
        world.memory.set(Mode::Transport);
        for text in numbered(5..60) {
            world.say(&history, "c", &text).await;
        }
        on_disk(&world, &history, 60).await;
        drop(history);
        spool.close().await.unwrap();
    }
    world.memory.set(Mode::Up);
    let spool = open(&world, &directory, small()).await;
    let history = world.spooled(spool);
    // Asked before the disk is drained: it is waited for.
    assert_eq!(world.texts(&history, "c").await, numbered(50..60));
    history.flush().await;
    assert_eq!(world.stored("c").await, numbered(0..60));
    assert_eq!(world.dropped(), 0);
}

// A clearing is on disk like a turn, in its place.
#[tokio::test]
async fn a_clearing_survives_the_process() {
    let world = World::new().await;
    let directory = tempfile::tempdir().unwrap();
    {
        let spool = open(&world, &directory, small()).await;
        let history = world.spooled(spool.clone());
        world.memory.set(Mode::Transport);
        world.say(&history, "c", "before").await;
        world.context().enter(async { history.clear("c") }).await;
        world.say(&history, "c", "after").await;
        on_disk(&world, &history, 3).await;
        drop(history);
        spool.close().await.unwrap();
    }
    world.memory.set(Mode::Up);
    let spool = open(&world, &directory, small()).await;
    let history = world.spooled(spool);
    history.flush().await;
    assert_eq!(world.stored("c").await, ["after"]);
    assert_eq!(world.all_stored().await.len(), 2);
}

// 5,000 turns into an outage: the disk holds what fits, the count of the others is exact.
#[tokio::test]
async fn a_full_disk_drops_the_oldest_and_counts_them_exactly() {
    let world = World::new().await;
    let directory = tempfile::tempdir().unwrap();
    // Every turn is charged the same, about a kilobyte; some 1,000 fit.
    let limit = 1_000 * (ENTRY_OVERHEAD + 500);
    let config = SpoolConfig {
        max_bytes: limit,
        per_tenant_bytes: limit,
        ..small()
    };
    let spool = open(&world, &directory, config).await;
    let history = DurableConversationHistory::start(Parts {
        spool: Some(spool),
        ..world.parts(MemoryWatch::always(world.service()))
    });
    world.memory.set(Mode::Transport);
    let texts: Vec<String> = (0..5_000).map(|n| format!("turn {n:05}")).collect();
    for chunk in texts.chunks(500) {
        for text in chunk {
            world.say(&history, "c", text).await;
        }
        // The disk keeps up with people, not with a loop.
        history.secured().await;
    }
    let [dropped, kept] = [
        world.dropped(),
        world.metric("ccm_history_spool_entries", None),
    ];
    assert_eq!(dropped + kept, 5_000, "{dropped} + {kept}");
    assert!(kept > 500, "{kept}");
    let bytes = world.metric("ccm_history_spool_bytes", None);
    assert!(bytes <= i64::try_from(limit).unwrap(), "{bytes}");
    world.memory.set(Mode::Up);
    history.flush().await;
    let stored: Vec<String> = world
        .all_stored()
        .await
        .into_iter()
        .map(|turn| turn.user_message)
        .collect();
    // What is just being offered is not dropped: four batches may be older than the rest.
    let latest = &stored[4 * quick().batch..];
    assert_eq!(latest, &texts[texts.len() - latest.len()..]);
    assert!(stored.is_sorted(), "in order, each once");
    let lost = i64::try_from(5_000 - stored.len()).unwrap();
    assert_eq!(world.dropped(), lost);
}

// A user who was only named, not resolved: the next process resolves them.
#[tokio::test]
async fn a_channel_user_waits_on_disk_by_their_channels_name() {
    let world = World::new().await;
    let directory = tempfile::tempdir().unwrap();
    let spool = open(&world, &directory, small()).await;
    let (switch, watch) = MemoryWatch::absent();
    let history = DurableConversationHistory::start(Parts {
        spool: Some(spool),
        config: quick(),
        ..world.parts(watch)
    });
    let context = TurnContext::of(world.tenant.clone()).said_by(sender("42"));
    let say = async { history.append("c", FinishedTurn::new("hello", "")) };
    context.enter(say).await;
    on_disk(&world, &history, 1).await;
    switch.present(world.service());
    history.flush().await;
    assert_eq!(world.all_stored().await.len(), 1);
}

// T-37
#[tokio::test]
async fn a_forgotten_users_turns_leave_the_disk() {
    let world = World::new().await;
    let directory = tempfile::tempdir().unwrap();
    let spool = open(&world, &directory, small()).await;
    let history = world.spooled(spool);
    world.memory.set(Mode::Transport);
    for text in numbered(0..3) {
        world.say(&history, "c", &text).await;
    }
    on_disk(&world, &history, 3).await;
    let purged = history
        .clear_hot_cache_for_user(&world.tenant, world.mina)
        .await;
    assert_eq!((purged.turns, purged.waiting), (3, 3));
    history.flush().await;
    world.memory.set(Mode::Up);
    assert_eq!(world.all_stored().await.len(), 0);
}

// A closed file is no reason to lose a turn: it goes to the store by itself.
#[tokio::test]
async fn a_disk_that_fails_is_gone_around() {
    let world = World::new().await;
    let directory = tempfile::tempdir().unwrap();
    let spool = open(&world, &directory, small()).await;
    let history = world.spooled(spool.clone());
    spool.close().await.unwrap();
    for text in numbered(0..5) {
        world.say(&history, "c", &text).await;
    }
    history.flush().await;
    assert_eq!(world.stored("c").await, numbered(0..5));
}

// failures.md 33: nothing of what was said stands in the file in the clear.
#[tokio::test]
async fn the_file_shows_no_word() {
    let world = World::new().await;
    let directory = tempfile::tempdir().unwrap();
    let spool = open(&world, &directory, small()).await;
    let history = world.spooled(spool.clone());
    world.memory.set(Mode::Transport);
    world.say(&history, "sentinel scope", "sentinel text").await;
    on_disk(&world, &history, 1).await;
    drop(history);
    spool.close().await.unwrap();
    let mut bytes = Vec::new();
    for file in std::fs::read_dir(directory.path()).unwrap() {
        bytes.extend(std::fs::read(file.unwrap().path()).unwrap());
    }
    assert!(!bytes.is_empty());
    assert!(!bytes.windows(8).any(|window| window == b"sentinel"));
}

// failures.md 30: 100 turns that never get through, and a good one behind them.
#[tokio::test]
async fn a_hundred_poisoned_turns_do_not_hold_up_a_good_one() {
    let world = World::new().await;
    let directory = tempfile::tempdir().unwrap();
    let spool = open(&world, &directory, small()).await;
    let (switch, watch) = MemoryWatch::absent();
    let history = DurableConversationHistory::start(Parts {
        spool: Some(spool),
        config: quick(),
        ..world.parts(watch)
    });
    let poison: Vec<String> = (0..100).map(|n| format!("poison {n}")).collect();
    for (n, text) in poison.iter().enumerate() {
        world.say(&history, &format!("p{}", n % 60), text).await;
    }
    world.say(&history, "good", "good").await;
    on_disk(&world, &history, 101).await;
    *world.memory.poison.lock() = poison;
    switch.present(world.service());
    while world.metric("ccm_history_spool_entries", None) > 100 {
        tokio::task::yield_now().await;
    }
    assert_eq!(world.stored("good").await, ["good"]);
    assert_eq!(world.all_stored().await.len(), 1);
    // They wait for their next attempt, which is half a minute away by the clock of this world.
    world.memory.poison.lock().clear();
    world.clock.advance(Duration::from_mins(2));
    switch.present(world.service());
    history.flush().await;
    assert_eq!(world.all_stored().await.len(), 101);
}

#[tokio::test]
async fn a_shutdown_waits_no_longer_than_it_may_and_leaves_the_rest_on_disk() {
    let world = World::new().await;
    let directory = tempfile::tempdir().unwrap();
    let spool = open(&world, &directory, small()).await;
    let history = world.spooled(spool.clone());
    world.memory.set(Mode::Stall);
    for text in numbered(0..5) {
        world.say(&history, "c", &text).await;
    }
    on_disk(&world, &history, 5).await;
    let begun = std::time::Instant::now();
    let left = history.shutdown(Duration::from_millis(20)).await;
    // The write that stalls has ten seconds of its own.
    assert!(begun.elapsed() < Duration::from_secs(5));
    assert_eq!((left.in_memory, left.on_disk), (0, 5));
    spool.close().await.unwrap();
    world.memory.set(Mode::Up);
    let next = world.spooled(open(&world, &directory, small()).await);
    next.flush().await;
    assert_eq!(world.stored("c").await, numbered(0..5));
}

// One a turn, however often it is tried: the file counts no attempt while the store is away.
#[tokio::test]
async fn an_outage_is_counted_once_a_turn() {
    let world = World::new().await;
    let directory = tempfile::tempdir().unwrap();
    let history = world.spooled(open(&world, &directory, small()).await);
    world.memory.set(Mode::Transport);
    for text in numbered(0..5) {
        world.say(&history, "c", &text).await;
    }
    on_disk(&world, &history, 5).await;
    while world
        .memory
        .appends
        .load(std::sync::atomic::Ordering::SeqCst)
        < 40
    {
        tokio::task::yield_now().await;
    }
    world.memory.set(Mode::Up);
    history.flush().await;
    let failed = world.metric("ccm_write_failures_total", Some("transport"));
    assert_eq!(failed, 5);
}
