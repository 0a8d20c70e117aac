//! The orchestrator at the desk: the context block in front of its next turn.

use std::sync::Arc;
use std::time::Duration;

use prometheus::Registry;
use throughline_conversation_memory::CanvasSessionId;
use throughline_domain::SystemClock;
use throughline_durable_history::{
    ContextLimits, HistoryMetrics, MemoryWatch, RecentContext, TurnContext,
};
use throughline_tests::World;

use super::channel::{acme, client, mina};

pub(super) struct Desk(RecentContext);

impl Desk {
    pub(super) fn at(world: &World) -> Self {
        let client = client(&world.service.url(), world.acme.key());
        let metrics = HistoryMetrics::register(&Registry::new()).expect("an empty registry");
        let limits = ContextLimits {
            // A busy machine is no reason for an empty block.
            deadline: Duration::from_secs(10),
            ..ContextLimits::default()
        };
        let memory = MemoryWatch::always(client.into());
        Self(RecentContext::new(
            memory,
            metrics,
            Arc::new(SystemClock),
            limits,
        ))
    }

    pub(super) async fn block(&self) -> String {
        let canvas = CanvasSessionId::parse("canvas-1").expect("well-formed");
        let turn = TurnContext::of(acme()).said_by(mina()).in_canvas(canvas);
        turn.enter(self.0.recent_context("canvas-1")).await.block
    }
}
