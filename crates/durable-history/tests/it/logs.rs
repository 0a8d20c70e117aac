//! The log says what goes wrong, and nothing of what was said or by whom (failures.md 33, T-66).

use std::fmt::{Debug, Write as _};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use throughline_durable_history::{
    ContextLimits, ConversationHistory, DurableConversationHistory, FinishedTurn, MemoryWatch,
    RecentContext, TurnContext,
};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::flaky::Mode;
use crate::world::{World, sender};

/// Writes every event down, at every level.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<String>>);

struct Line<'a>(&'a mut String);

impl Visit for Line<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        write!(self.0, "{}={value:?} ", field.name()).unwrap();
    }

    fn record_error(&mut self, field: &Field, value: &(dyn std::error::Error + 'static)) {
        let mut cause = Some(value);
        while let Some(error) = cause {
            write!(self.0, "{}={error} ({error:?}) ", field.name()).unwrap();
            cause = error.source();
        }
    }
}

impl Subscriber for Written {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut text = self.0.lock();
        write!(text, "{} ", event.metadata().level()).unwrap();
        event.record(&mut Line(&mut text));
        text.push('\n');
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[tokio::test(start_paused = true)]
async fn no_word_and_no_name_reaches_the_log() {
    let written = Written::default();
    let _guard = tracing::subscriber::set_default(written.clone());
    for mode in [
        Mode::Up,
        Mode::Transport,
        Mode::Timeout,
        Mode::Stall,
        Mode::LoseReply,
        Mode::Committed,
        Mode::Reject,
    ] {
        let world = World::new().await;
        let service = world.service().with_outbox(world.outbox.clone());
        let memory = MemoryWatch::always(service);
        let history = DurableConversationHistory::start(world.parts(memory.clone()));
        let recent = RecentContext::new(
            memory,
            world.metrics.clone(),
            world.clock.clone(),
            ContextLimits::default(),
        );
        world.memory.set(mode);
        *world.outbox.away.lock() = mode == Mode::Timeout;
        let context = TurnContext::of(world.tenant.clone()).said_by(sender("sentinel-person"));
        let long = "sentinel".repeat(100);
        let turn = async {
            history.append("sentinel-scope", FinishedTurn::new("sentinel", "sentinel"));
            history.append(
                "sentinel-scope",
                FinishedTurn::new("sentinel".repeat(40_000), ""),
            );
            history.append(&long, FinishedTurn::new("sentinel", ""));
            history.clear("sentinel-scope");
            history.get("sentinel-scope").await;
            recent.recent_context("sentinel-conversation").await;
        };
        context.enter(turn).await;
        world.pass(Duration::from_secs(15)).await;
        history.shutdown(Duration::from_mins(1)).await;
    }
    let text = written.0.lock().clone();
    for told in [
        "does not take turns",
        "refused a turn",
        "though the answer was lost",
        "could not be read",
        "could not be cleared",
        "goes on without it",
    ] {
        assert!(text.contains(told), "{told}:\n{text}");
    }
    assert!(!text.contains("sentinel"), "{text}");
}
