//! Somebody is erased: what is here of them goes (D-09, T-25, T-29, T-37).

use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::FutureExt;
use throughline_domain::{Actor, TenantId};
use throughline_durable_history::{ConversationHistory, FinishedTurn, Purged, TurnContext};
use throughline_erasure::{Erasure, Mode};

use crate::flaky;
use crate::world::{World, numbered, sender};

async fn forget_mina(world: &World) {
    let actor = Actor::parse("the test").unwrap();
    let erased = world
        .store
        .erase(&world.tenant, world.mina, &actor, Mode::Erase)
        .await;
    erased.unwrap();
}

// D-09: before anything is served.
#[tokio::test(start_paused = true)]
async fn a_jump_of_the_epoch_drops_the_tenants_turns() {
    let world = World::new().await;
    let history = world.history();
    world.epochs.heard(&world.tenant, 4);
    world.say(&history, "c", "mina's").await;
    let other = TenantId::parse("other").unwrap();
    let elsewhere = TurnContext::of(other.clone());
    let say = async { history.append("c", FinishedTurn::new("other's", "")) };
    elsewhere.clone().enter(say).await;
    history.flush().await;
    world.epochs.heard(&world.tenant, 4);
    assert_eq!(world.texts(&history, "c").await, ["mina's"]);
    forget_mina(&world).await;
    world.epochs.heard(&world.tenant, 5);
    assert_eq!(world.texts(&history, "c").await, numbered(0..0));
    assert_eq!(elsewhere.enter(history.get("c")).await.len(), 1);
}

// The answer to the very read that hydrates says that somebody was erased.
#[tokio::test(start_paused = true)]
async fn a_read_that_an_erasure_overtook_is_not_served() {
    let world = World::new().await;
    let before = world.history();
    world.say(&before, "c", "mina's").await;
    before.flush().await;
    world.epochs.heard(&world.tenant, 0);
    let history = world.history();
    world.get(&history, "another").await;
    let (store, epochs) = (world.store.clone(), world.epochs.clone());
    let (tenant, mina) = (world.tenant.clone(), world.mina);
    *world.memory.after_history.lock() = Some(Box::new(move || {
        let actor = Actor::parse("the test").unwrap();
        let erased = store
            .erase(&tenant, mina, &actor, Mode::Erase)
            .now_or_never();
        erased.expect("does not wait").unwrap();
        epochs.heard(&tenant, 1);
    }));
    assert_eq!(world.texts(&history, "c").await, numbered(0..0));
    assert_eq!(
        world.memory.histories.load(Ordering::SeqCst),
        3,
        "read once more"
    );
}

// T-29, T-25, T-37
#[tokio::test(start_paused = true)]
async fn a_user_is_taken_out_of_every_scope_and_out_of_the_line() {
    let world = World::new().await;
    let history = world.history();
    let omar = TurnContext::of(world.tenant.clone()).said_by(sender("77"));
    world.say(&history, "group", "mina's").await;
    let say = async { history.append("group", FinishedTurn::new("omar's", "")) };
    omar.enter(say).await;
    history.flush().await;
    world.memory.set(flaky::Mode::Transport);
    world.say(&history, "group", "mina's too").await;
    world.say(&history, "alone", "mina's alone").await;
    let purged = history
        .clear_hot_cache_for_user(&world.tenant, world.mina)
        .await;
    assert_eq!(
        purged,
        Purged {
            turns: 3,
            waiting: 2
        }
    );
    assert_eq!(world.texts(&history, "group").await, ["omar's"]);
    assert_eq!(world.texts(&history, "alone").await, numbered(0..0));
    world.memory.set(flaky::Mode::Up);
    history.flush().await;
    assert_eq!(world.stored("group").await, ["mina's", "omar's"]);
}

// The turn names no user id; the store's answer does.
#[tokio::test(start_paused = true)]
async fn a_turn_is_known_as_its_users_once_the_store_has_said_so() {
    let world = World::new().await;
    let history = world.history();
    let context = TurnContext::of(world.tenant.clone()).said_by(sender("42"));
    let say = async { history.append("c", FinishedTurn::new("mina's", "")) };
    context.enter(say).await;
    history.flush().await;
    let purged = history
        .clear_hot_cache_for_user(&world.tenant, world.mina)
        .await;
    assert_eq!(
        purged,
        Purged {
            turns: 1,
            waiting: 0
        }
    );
}

// failures.md 15
#[tokio::test(start_paused = true)]
async fn a_late_write_does_not_bring_a_forgotten_user_back() {
    let world = World::new().await;
    let history = world.history();
    world.memory.set(flaky::Mode::Transport);
    world.say(&history, "c", "too late").await;
    world.pass(Duration::from_millis(1)).await;
    forget_mina(&world).await;
    world.memory.set(flaky::Mode::Up);
    history.flush().await;
    assert_eq!(world.stored("c").await, numbered(0..0));
    assert_eq!(
        world.metric("ccm_write_failures_total", Some("rejected")),
        1
    );
}

/// T-37: of a person whom only their channel's name is known by, too. What they say afterwards is stored,
/// for somebody new.
#[tokio::test(start_paused = true)]
async fn waiting_words_of_an_erased_channel_user_make_nobody() {
    let world = World::new().await;
    let history = world.history();
    let context = TurnContext::of(world.tenant.clone()).said_by(sender("42"));
    let say = async |text: &str| {
        let append = async { history.append("c", FinishedTurn::new(text, "")) };
        context.clone().enter(append).await;
    };
    world.memory.set(flaky::Mode::Transport);
    say("too late").await;
    say("too late as well").await;
    world.pass(Duration::from_millis(1)).await;
    forget_mina(&world).await;
    world.clock.advance(Duration::from_millis(1));
    say("somebody new").await;
    world.memory.set(flaky::Mode::Up);
    history.flush().await;
    assert_eq!(world.stored("c").await, ["somebody new"]);
    let rejected = world.metric("ccm_write_failures_total", Some("rejected"));
    assert_eq!(rejected, 2);
}
