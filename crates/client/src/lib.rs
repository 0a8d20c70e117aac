//! The SDK: [`PlatformIdentity`](throughline_platform_identity::PlatformIdentity) and
//! [`ConversationMemory`](throughline_conversation_memory::ConversationMemory) over HTTP, so that a plugin
//! holds the same traits whether the store is in its process or a service away.
//!
//! ```no_run
//! use std::sync::Arc;
//! use throughline_client::{Client, Keys};
//! use throughline_conversation_memory::ConversationMemory;
//!
//! # fn main() -> Result<(), throughline_client::InvalidSetup> {
//! let key = std::env::var("THROUGHLINE_KEY").unwrap_or_default();
//! let client = Client::builder("https://memory.example.org", Keys::one(&key)?).build()?;
//! let memory: Arc<dyn ConversationMemory> = Arc::new(client);
//! # Ok(())
//! # }
//! ```
//!
//! Every call has a deadline, and is repeated within it when repeating cannot do anything twice. What
//! comes back is the trait's own error, with a [`ClientError`] as its cause ([`ClientError::behind`]);
//! `docs/client.md` has the table.
//!
//! Belongs here: connections, deadlines, repeating, and the way between trait and [`throughline_wire`].
//! Does not belong here: a path, body or code (they are the wire's), a cache, a queue of its own.

mod answer;
mod backoff;
mod call;
mod client;
mod connections;
mod epochs;
mod erasure;
mod error;
#[cfg(feature = "history")]
mod history;
mod identity;
mod keys;
mod memory;
mod query;
mod queue;
mod retry;
mod retry_after;
mod settings;
mod trace;

/// The guide's examples are compiled.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/client.md")]
struct Guide;

pub use client::{Client, ClientBuilder, InvalidSetup};
pub use epochs::Epochs;
pub use error::{ClientError, Effect};
pub use keys::Keys;
pub use settings::Settings;
pub use trace::{InvalidTrace, TraceContext};
