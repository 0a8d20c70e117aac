//! A desk assistant that knows what its user said on the phone.
//!
//! Against a service that runs:
//! `CCM_DEV_KEY=a-key-for-development cargo run -p throughline-durable-history --example orchestrator`

mod memory;

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use memory::Memory;
use throughline_conversation_memory::CanvasSessionId;
use throughline_domain::SystemClock;
use throughline_durable_history::{
    ContextLimits, ConversationHistory, FinishedTurn, RecentContext, TurnContext,
};
use throughline_platform_identity::{ChannelUser, PlatformKind};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let memory = Memory::from_env()?;
    let mina = ChannelUser::new(PlatformKind::TelegramChat, "42")?;
    let who = TurnContext::of(memory.tenant.clone()).said_by(mina);

    // On the phone.
    let phone = memory.history("telegram-chat")?;
    let said = FinishedTurn::new("Book the 9:02 to Bern.", "Done, seat 41.");
    who.clone().enter(async { phone.append("42", said) }).await;
    let unfinished = phone.shutdown(Duration::from_secs(5)).await;
    if unfinished.in_memory > 0 {
        return Err("the service did not take every turn; is it there?".into());
    }

    // At the desk, in a canvas of its own.
    let recent = RecentContext::new(
        memory.watch.clone(),
        memory.metrics.clone(),
        Arc::new(SystemClock),
        ContextLimits {
            // An example has more time than a person who waits for an answer.
            deadline: Duration::from_secs(5),
            ..ContextLimits::default()
        },
    );
    let desk = memory.history("desk")?;
    let canvas = CanvasSessionId::parse("canvas-1")?;
    let turn = async {
        let block = recent.recent_context("canvas-1").await.block;
        println!("What stands in front of the prompt:\n\n{block}");
        // What is said here is written at the end of the turn, and is not repeated to this canvas.
        desk.append(
            "canvas-1",
            FinishedTurn::new("Which seat have I got?", "Seat 41."),
        );
        block
    };
    let block = who.in_canvas(canvas).enter(turn).await;
    assert!(block.contains("Book the 9:02 to Bern."));
    desk.shutdown(Duration::from_secs(5)).await;
    Ok(())
}
