//! A Slack-like channel: a thread is a scope, and the platform delivers an event again whenever it was not
//! acknowledged within seconds, under a new event id.
//!
//! Against a service that runs:
//! `CCM_DEV_KEY=a-key-for-development cargo run -p throughline-durable-history --example slack`

mod memory;

use std::error::Error;
use std::time::Duration;

use memory::Memory;
use throughline_domain::{Clock, SystemClock, TenantId};
use throughline_durable_history::{ConversationHistory, FinishedTurn, TurnContext};
use throughline_platform_identity::{ChannelUser, PlatformKind};

/// What the channel delivers.
struct Event<'a> {
    delivery: &'a str,
    channel: &'a str,
    /// The message's own id: its moment, unique in the channel.
    ts: &'a str,
    /// The first message of the thread it stands in.
    thread_ts: &'a str,
    user: &'a str,
    email: &'a str,
    text: &'a str,
}

/// Answers in the event's thread. The turn is known by the message and not by the delivery, and its
/// moment is the message's: every delivery makes the very same turn.
async fn on_event(
    history: &impl ConversationHistory,
    tenant: &TenantId,
    event: &Event<'_>,
) -> Result<usize, Box<dyn Error>> {
    let thread = format!("{}/{}", event.channel, event.thread_ts);
    let sender = ChannelUser::new(PlatformKind::SlackUser, event.user)?
        .with_email(event.email, Some(true))?;
    let turn = async {
        let finished = FinishedTurn::new(event.text, format!("You said: {}", event.text))
            .with_message_id(event.ts)
            .said_at_ms(millis(event.ts));
        history.append(&thread, finished);
        history.get(&thread).await.len()
    };
    let context = TurnContext::of(tenant.clone()).said_by(sender);
    Ok(context.enter(turn).await)
}

/// `1764540000.000100` is seconds and microseconds.
fn millis(ts: &str) -> i64 {
    let (seconds, fraction) = ts.split_once('.').unwrap_or((ts, "0"));
    let seconds: i64 = seconds.parse().unwrap_or(0);
    let micros: i64 = fraction.parse().unwrap_or(0);
    seconds * 1_000 + micros / 1_000
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let memory = Memory::from_env()?;
    let history = memory.history("slack-user")?;
    let now = SystemClock.now().as_millis() / 1_000;
    let [first, second] = [1, 2].map(|n| format!("{now}.00{n}000"));
    let (first, second) = (first.as_str(), second.as_str());
    let said = |delivery, ts, text| Event {
        delivery,
        channel: "C024",
        ts,
        thread_ts: first,
        user: "U1",
        email: "mina@example.org",
        text,
    };
    let events = [
        said("Ev1", first, "Is the deploy done?"),
        said("Ev2", first, "Is the deploy done?"),
        said("Ev3", second, "And the migration?"),
        said("Ev4", first, "Is the deploy done?"),
    ];
    let mut turns = 0;
    for event in &events {
        turns = on_event(&history, &memory.tenant, event).await?;
        println!("{}: {} → {turns} turns", event.delivery, event.text);
    }
    let unfinished = history.shutdown(Duration::from_secs(5)).await;
    if unfinished.in_memory > 0 {
        return Err("the service did not take every turn; is it there?".into());
    }
    assert_eq!(turns, 2, "four deliveries of two messages");
    Ok(())
}
