//! A channel's conversation history that survives the process and crosses channels.
//!
//! [`DurableConversationHistory`] takes the place of the plain [`InMemoryHistory`] in a channel plugin:
//! the same calls, answered from a hot ring in the process, while every finished turn is written behind
//! to a `dyn ConversationMemory`. If that memory is missing, slow or down, the caller sees nothing but a
//! shorter past. [`RecentContext`] is the orchestrator's side: what the person said elsewhere.
//!
//! - **The caller never waits for the store.** [`append`](ConversationHistory::append) is not even
//!   asynchronous; [`get`](ConversationHistory::get) waits for a cold scope only, and not for long.
//! - **Bounded everywhere.** Scopes, turns a scope, turns that wait, their bytes; what has to go is the
//!   oldest, and it is counted.
//! - **In order.** The turns of one scope reach the store in the order they were appended.
//! - **Once.** Each turn has its key before the first attempt, and keeps it through every retry.
//!
//! ```no_run
//! # async fn run(service: throughline_durable_history::MemoryService, registry: prometheus::Registry) -> Result<(), Box<dyn std::error::Error>> {
//! use std::sync::Arc;
//!
//! use throughline_conversation_memory::ChannelKind;
//! use throughline_domain::{PlatformKind, SystemClock, SystemIds, TenantId};
//! use throughline_durable_history::{
//!     ConversationHistory, DurableConversationHistory, FinishedTurn, HistoryConfig, HistoryMetrics,
//!     MemoryWatch, Parts, TurnContext,
//! };
//! use throughline_platform_identity::ChannelUser;
//!
//! let history = DurableConversationHistory::start(Parts {
//!     channel: ChannelKind::parse("telegram-chat")?,
//!     memory: MemoryWatch::always(service),
//!     spool: None,
//!     metrics: HistoryMetrics::register(&registry)?,
//!     clock: Arc::new(SystemClock),
//!     ids: Arc::new(SystemIds),
//!     config: HistoryConfig::default(),
//! });
//! let sender = ChannelUser::new(PlatformKind::TelegramChat, "42")?;
//! let context = TurnContext::of(TenantId::parse("acme")?).said_by(sender);
//! context.enter(async {
//!     let past = history.get("chat 7").await;
//!     let answer = format!("We have spoken {} times.", past.len());
//!     history.append("chat 7", FinishedTurn::new("Do you remember me?", answer));
//! }).await;
//! # Ok(()) }
//! ```
//!
//! Belongs here: the hot ring, the line of turns that wait, what an answer of the store means for them,
//! the turn's context, the metrics of all that. Does not belong here: HTTP (`client`), a store, who a
//! channel's user is, the text of the context block (`conversation-memory`), files (`spool`).

mod author;
mod captured;
mod config;
mod conversation_history;
mod deliver;
mod document;
mod durable;
mod epochs;
mod hot;
mod hydrate;
mod in_memory;
mod line;
mod metrics;
mod presence;
mod recent_context;
mod report;
mod shared;
mod spool;
mod turn;
mod turn_context;
mod write_behind;

pub use config::{Backoff, HistoryConfig, HotLimits};
pub use conversation_history::ConversationHistory;
pub use durable::{DurableConversationHistory, Parts, Purged, Unfinished};
pub use epochs::{EpochBoard, ErasureEpochs};
pub use in_memory::InMemoryHistory;
pub use metrics::HistoryMetrics;
pub use presence::{MemoryService, MemorySwitch, MemoryWatch};
pub use recent_context::{ContextLimits, RecentContext};
pub use spool::HistorySpool;
pub use turn::{FinishedTurn, HistoryTurn, Projection};
pub use turn_context::TurnContext;
