//! What every provider of conversation memory promises, as plain functions over any provider.

mod append;
mod turns;

use std::sync::Arc;

use async_trait::async_trait;
use throughline_domain::{ManualClock, TenantId, UserId};

use crate::ConversationMemory;

pub use append::*;
pub use turns::{TurnBuilder, turn};

/// A provider under test, on a store of its own.
#[async_trait]
pub trait Subject: Send + Sync {
    /// The provider.
    fn memory(&self) -> Arc<dyn ConversationMemory>;
    /// The clock the provider was given.
    fn clock(&self) -> Arc<ManualClock>;
    /// Makes an active tenant of that name that keeps turns for that many days.
    async fn tenant(&self, name: &str, ttl_days: u32) -> TenantId;
    /// Makes an active user.
    async fn user(&self, tenant: &TenantId) -> UserId;
}

/// One `#[tokio::test]` for each case; `$subject` is an async function that makes a fresh subject.
#[macro_export]
macro_rules! conversation_memory_contract {
    ($subject:path) => {
        $crate::conversation_memory_contract!(@cases $subject:
            a_retry_returns_the_first_id
        );
    };
    (@cases $subject:path: $($case:ident)+) => {$(
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $case() {
            $crate::contract::$case(&$subject().await).await;
        }
    )+};
}
