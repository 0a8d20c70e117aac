//! R-001 … R-009, one suite for the plain history and for the durable one without a memory.

use std::sync::Arc;
use std::time::Duration;

use throughline_domain::{Clock, ManualClock};
use throughline_durable_history::{
    ConversationHistory, DurableConversationHistory, FinishedTurn, HotLimits, InMemoryHistory,
    MemoryWatch, Projection,
};

use crate::world::{World, numbered, said};

struct Subject {
    history: Arc<dyn ConversationHistory>,
    clock: Arc<ManualClock>,
}

impl Subject {
    fn say(&self, scope: &str, text: &str) {
        self.history.append(scope, FinishedTurn::new(text, "ok"));
    }

    async fn said(&self, scope: &str) -> Vec<String> {
        said(&self.history.get(scope).await)
    }
}

//
async fn an_unknown_scope_is_empty_and_turns_come_oldest_first(subject: &Subject) {
    assert_eq!(subject.said("c").await, numbered(0..0));
    for text in numbered(0..3) {
        subject.say("c", &text);
    }
    assert_eq!(subject.said("c").await, numbered(0..3));
}

//
async fn the_eleventh_turn_drops_the_oldest(subject: &Subject) {
    for text in numbered(0..10) {
        subject.say("c", &text);
    }
    assert_eq!(subject.said("c").await, numbered(0..10));
    subject.say("c", "turn 10");
    assert_eq!(subject.said("c").await, numbered(1..11));
}

//
async fn a_scope_lives_two_hours_after_its_last_access(subject: &Subject) {
    let idle = Duration::from_hours(2);
    subject.say("c", "a");
    subject.clock.advance(idle);
    assert_eq!(
        subject.said("c").await,
        ["a"],
        "exactly two hours is not more"
    );
    subject.clock.advance(idle);
    subject.say("c", "b");
    subject.clock.advance(idle);
    assert_eq!(
        subject.said("c").await,
        ["a", "b"],
        "get and append both refresh"
    );
    subject.clock.advance(idle + Duration::from_micros(1));
    assert_eq!(subject.said("c").await, numbered(0..0));
    subject.say("c", "c");
    assert_eq!(subject.said("c").await, ["c"], "what was dropped stays so");
}

// the bucket goes by the next `get`, not by itself.
async fn an_append_revives_what_is_idle(subject: &Subject) {
    subject.say("c", "a");
    subject.clock.advance(Duration::from_hours(3));
    subject.say("c", "b");
    assert_eq!(subject.said("c").await, ["a", "b"]);
}

//
async fn the_scope_accessed_longest_ago_makes_room(subject: &Subject) {
    for n in 0..500 {
        subject.say(&format!("s{n}"), "hi");
    }
    // Now s1 is the one accessed longest ago.
    assert_eq!(subject.said("s0").await, ["hi"]);
    subject.say("s500", "hi");
    assert_eq!(subject.said("s1").await, numbered(0..0));
    for kept in ["s0", "s2", "s499", "s500"] {
        assert_eq!(subject.said(kept).await, ["hi"], "{kept}");
    }
}

// reading what is not there makes nothing.
async fn a_get_of_nothing_takes_no_place(subject: &Subject) {
    for n in 0..500 {
        subject.say(&format!("s{n}"), "hi");
    }
    for n in 0..10 {
        assert_eq!(subject.said(&format!("unknown {n}")).await, numbered(0..0));
    }
    assert_eq!(subject.said("s0").await, ["hi"]);
}

//
async fn what_is_empty_is_ignored(subject: &Subject) {
    subject.say("", "hi");
    assert_eq!(subject.said("").await, numbered(0..0));
    subject.history.append("c", FinishedTurn::new("", ""));
    assert_eq!(subject.history.get("c").await, []);
    subject.history.append("c", FinishedTurn::new("said", ""));
    subject
        .history
        .append("c", FinishedTurn::new("", "answered"));
    assert_eq!(subject.said("c").await, ["said", ""]);
    subject.history.mark_pending_decision("", "topic");
    assert_eq!(subject.history.pending_decision(""), None);
}

//
async fn what_is_returned_is_a_copy(subject: &Subject) {
    subject.say("c", "a");
    let mut copy = subject.history.get("c").await;
    copy[0].user_message.push('!');
    copy.clear();
    assert_eq!(subject.said("c").await, ["a"]);
}

//
async fn a_decision_waits_until_it_is_taken_or_all_is_reset(subject: &Subject) {
    let history = &subject.history;
    subject.say("c", "a");
    assert_eq!(history.pending_decision("c"), None);
    history.mark_pending_decision("c", "trains");
    history.mark_pending_decision("d", "ships");
    assert_eq!(history.pending_decision("c").as_deref(), Some("trains"));
    history.clear("c");
    assert_eq!(subject.said("c").await, numbered(0..0));
    assert_eq!(history.pending_decision("c").as_deref(), Some("trains"));
    history.clear_pending_decision("c");
    assert_eq!(history.pending_decision("c"), None);
    subject.say("d", "b");
    history.reset("d");
    assert_eq!(subject.said("d").await, numbered(0..0));
    assert_eq!(history.pending_decision("d"), None);
    history.mark_pending_decision("d", "planes");
    history.mark_pending_decision("d", "planes again");
    assert_eq!(
        history.pending_decision("d").as_deref(),
        Some("planes again")
    );
}

//
async fn a_turn_has_its_own_time_or_now(subject: &Subject) {
    let now = subject.clock.now().as_millis();
    let own = FinishedTurn::new("a", "").said_at_ms(5);
    subject.history.append("c", own);
    subject.say("c", "b");
    let turns = subject.history.get("c").await;
    let times: Vec<i64> = turns.iter().map(|turn| turn.timestamp_ms).collect();
    assert_eq!(times, [5, now]);
    assert!(turns.iter().all(|turn| turn.projection == Projection::Raw));
}

macro_rules! on_both {
    ($($case:ident)+) => {
        async fn on_plain(case: &str) -> Subject {
            let world = World::new().await;
            let history = InMemoryHistory::new(HotLimits::default(), world.clock.clone());
            println!("{case} on the plain history");
            Subject { history: Arc::new(history), clock: world.clock }
        }

        async fn on_durable(case: &str) -> Subject {
            let world = World::new().await;
            let parts = world.parts(MemoryWatch::never());
            let history = DurableConversationHistory::start(parts);
            println!("{case} on the durable history without a memory");
            Subject { history: Arc::new(history), clock: world.clock }
        }

        $(#[tokio::test(start_paused = true)]
        async fn $case() {
            super::$case(&on_plain(stringify!($case)).await).await;
            super::$case(&on_durable(stringify!($case)).await).await;
        })+
    };
}

mod both {
    use super::*;

    on_both! {
        an_unknown_scope_is_empty_and_turns_come_oldest_first
        the_eleventh_turn_drops_the_oldest
        a_scope_lives_two_hours_after_its_last_access
        an_append_revives_what_is_idle
        the_scope_accessed_longest_ago_makes_room
        a_get_of_nothing_takes_no_place
        what_is_empty_is_ignored
        what_is_returned_is_a_copy
        a_decision_waits_until_it_is_taken_or_all_is_reset
        a_turn_has_its_own_time_or_now
    }
}

// R-008, T-21, R-097: the key is tenant, channel kind and scope.
#[tokio::test(start_paused = true)]
async fn one_scope_id_under_two_tenants_or_two_channels_is_two_scopes() {
    let world = World::new().await;
    let telegram = DurableConversationHistory::start(world.parts(MemoryWatch::never()));
    let mut parts = world.parts(MemoryWatch::never());
    parts.channel = throughline_conversation_memory::ChannelKind::parse("slack-user").unwrap();
    let slack = DurableConversationHistory::start(parts);
    world.say(&telegram, "7", "here").await;
    assert_eq!(world.texts(&telegram, "7").await, ["here"]);
    assert_eq!(world.texts(&slack, "7").await, numbered(0..0));
    let other = throughline_domain::TenantId::parse("acme-corp").unwrap();
    let context = throughline_durable_history::TurnContext::of(other);
    assert_eq!(context.enter(telegram.get("7")).await, []);
    assert_eq!(
        telegram.get("7").await,
        [],
        "without a tenant it is nobody's"
    );
}

// T-22
#[tokio::test(start_paused = true)]
async fn one_tenants_scopes_do_not_push_out_anothers() {
    let world = World::new().await;
    let mut parts = world.parts(MemoryWatch::never());
    parts.config.hot = HotLimits {
        scopes_per_tenant: 8,
        scopes: 10,
        ..HotLimits::default()
    };
    let history = DurableConversationHistory::start(parts);
    let context = |name: &str| {
        throughline_durable_history::TurnContext::of(
            throughline_domain::TenantId::parse(name).unwrap(),
        )
    };
    let history = &history;
    let say = |name: &'static str, scope: String| {
        let append = async move { history.append(&scope, FinishedTurn::new("hi", "")) };
        context(name).enter(append)
    };
    for n in 0..2 {
        say("quiet", format!("q{n}")).await;
    }
    for n in 0..100 {
        say("noisy", format!("n{n}")).await;
    }
    say("third", "t".to_owned()).await;
    for (tenant, scope, turns) in [
        ("quiet", "q0", 1),
        ("quiet", "q1", 1),
        ("third", "t", 1),
        ("noisy", "n99", 1),
        ("noisy", "n92", 0),
        ("noisy", "n93", 1),
    ] {
        let found = context(tenant).enter(history.get(scope)).await;
        assert_eq!(found.len(), turns, "{tenant} {scope}");
    }
}
