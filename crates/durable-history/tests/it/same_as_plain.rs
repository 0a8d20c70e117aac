//! Without a memory, any calls in any order give what the plain history gives (R-092, T-81).

use std::time::Duration;

use proptest::prelude::*;
use throughline_durable_history::{
    ConversationHistory, DurableConversationHistory, FinishedTurn, HistoryTurn, HotLimits,
    InMemoryHistory, MemoryWatch,
};

use crate::world::World;

#[derive(Clone, Debug)]
enum Call {
    Append(u8, String, String, Option<i64>, Option<u8>),
    Get(u8),
    Clear(u8),
    Mark(u8),
    Reset(u8),
    Wait(u64),
}

#[derive(Debug, PartialEq)]
enum Answer {
    Turns(Vec<HistoryTurn>),
    Decision(Option<String>),
}

fn call() -> impl Strategy<Value = Call> {
    let id = proptest::option::of(0_u8..4);
    let at = proptest::option::of(0_i64..1_000);
    prop_oneof![
        6 => (0_u8..7, "[ab]{0,2}", "[c\0]{0,2}", at, id)
            .prop_map(|(scope, said, answered, at, id)| Call::Append(scope, said, answered, at, id)),
        4 => (0_u8..7).prop_map(Call::Get),
        1 => (0_u8..7).prop_map(Call::Clear),
        1 => (0_u8..7).prop_map(Call::Mark),
        1 => (0_u8..7).prop_map(Call::Reset),
        2 => (0_u64..150).prop_map(Call::Wait),
    ]
}

/// Scope 0 is the empty one.
fn name(scope: u8) -> String {
    "s".repeat(usize::from(scope))
}

async fn make(history: &dyn ConversationHistory, call: &Call) -> Option<Answer> {
    match call.clone() {
        Call::Append(scope, said, answered, at, id) => {
            let turn = FinishedTurn {
                timestamp_ms: at,
                message_id: id.map(|id| id.to_string()),
                ..FinishedTurn::new(said, answered)
            };
            history.append(&name(scope), turn);
            None
        }
        Call::Get(scope) => Some(Answer::Turns(history.get(&name(scope)).await)),
        Call::Clear(scope) => {
            history.clear(&name(scope));
            Some(Answer::Decision(history.pending_decision(&name(scope))))
        }
        Call::Mark(scope) => {
            history.mark_pending_decision(&name(scope), "topic");
            Some(Answer::Decision(history.pending_decision(&name(scope))))
        }
        Call::Reset(scope) => {
            history.reset(&name(scope));
            Some(Answer::Decision(history.pending_decision(&name(scope))))
        }
        Call::Wait(_) => None,
    }
}

async fn compare(calls: Vec<Call>, in_context: bool) {
    let world = World::new().await;
    let limits = HotLimits {
        turns: 3,
        scopes_per_tenant: 4,
        ..HotLimits::default()
    };
    // Absent at construction and for ever, and absent but awaited.
    let (_switch, awaited) = MemoryWatch::absent();
    for watch in [MemoryWatch::never(), awaited] {
        let mut parts = world.parts(watch);
        parts.config.hot = limits;
        let durable = DurableConversationHistory::start(parts);
        let context = if in_context {
            world.context()
        } else {
            throughline_durable_history::TurnContext::default()
        };
        let plain = InMemoryHistory::new(limits, world.clock.clone());
        for (at, call) in calls.iter().enumerate() {
            if let Call::Wait(minutes) = call {
                world.clock.advance(Duration::from_mins(*minutes));
            }
            let expected = make(&plain, call).await;
            let got = context.clone().enter(make(&durable, call)).await;
            assert_eq!(got, expected, "call {at}: {call:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn the_answers_are_the_same(calls in proptest::collection::vec(call(), 0..80), in_context: bool) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(compare(calls, in_context));
    }
}
