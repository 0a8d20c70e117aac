//! A Telegram-like channel: updates from private chats and a group, a process that restarts.
//!
//! Against a service that runs:
//! `CCM_DEV_KEY=a-key-for-development cargo run -p throughline-durable-history --example telegram`

mod memory;

use std::error::Error;
use std::time::Duration;

use memory::Memory;
use throughline_domain::{Clock, SystemClock, TenantId};
use throughline_durable_history::{ConversationHistory, FinishedTurn, HistoryTurn, TurnContext};
use throughline_platform_identity::{ChannelUser, PlatformKind};

/// What the channel delivers.
struct Update {
    id: i64,
    chat: &'static str,
    /// The person, also in a group: never the chat.
    from: &'static str,
    text: &'static str,
}

struct Bot<H> {
    tenant: TenantId,
    history: H,
}

impl<H: ConversationHistory> Bot<H> {
    async fn on_update(&self, update: &Update) -> Result<String, Box<dyn Error>> {
        let sender = ChannelUser::new(PlatformKind::TelegramChat, update.from)?;
        let turn = async {
            let past = self.history.get(update.chat).await;
            let answer = think(&past, update.text);
            let finished = FinishedTurn::new(update.text, answer.clone())
                .with_message_id(update.id.to_string())
                .said_at_ms(SystemClock.now().as_millis());
            self.history.append(update.chat, finished);
            answer
        };
        let context = TurnContext::of(self.tenant.clone()).said_by(sender);
        Ok(context.enter(turn).await)
    }
}

/// Stands for the model.
fn think(past: &[HistoryTurn], text: &str) -> String {
    match past.last() {
        None => format!("Hello! You said: {text}"),
        Some(last) => format!(
            "{} turns ago we began; before this you said: {}",
            past.len(),
            last.user_message
        ),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let memory = Memory::from_env()?;
    // The platform's ids never come twice, and neither do these when the example runs again.
    let first = SystemClock.now().as_millis();
    let updates = [
        (1, "42", "42", "When does the train to Bern leave?"),
        (2, "42", "42", "And the one after?"),
        (3, "-100", "77", "Lunch, anyone?"),
        (4, "42", "42", "Thanks!"),
    ];
    for (id, chat, from, text) in updates {
        // Each update finds a bot that has just started: what it knows comes from memory.
        let bot = Bot {
            tenant: memory.tenant.clone(),
            history: memory.history("telegram-chat")?,
        };
        let update = Update {
            id: first + id,
            chat,
            from,
            text,
        };
        println!("{chat} {from}: {text}");
        println!("{chat} bot: {}", bot.on_update(&update).await?);
        let unfinished = bot.history.shutdown(Duration::from_secs(5)).await;
        if unfinished.in_memory > 0 {
            return Err("the service did not take every turn; is it there?".into());
        }
    }
    Ok(())
}
