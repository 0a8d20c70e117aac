//! What a channel plugin calls, whichever history it was given.

use async_trait::async_trait;

use crate::{FinishedTurn, HistoryTurn};

/// The history of one channel's conversations. A scope is the channel's own id of a conversation.
///
/// No call fails, and none but [`get`](Self::get) can wait: whatever goes wrong behind them goes to the
/// log and the metrics.
#[async_trait]
pub trait ConversationHistory: Send + Sync {
    /// The latest turns, oldest first; a copy. Empty for a scope that is not known, or that has
    /// been idle for longer than the limit.
    async fn get(&self, scope: &str) -> Vec<HistoryTurn>;

    /// Adds a finished turn. An empty scope and a turn without any text are ignored.
    fn append(&self, scope: &str, turn: FinishedTurn);

    /// Drops the scope's turns. A pending decision stays.
    fn clear(&self, scope: &str);

    /// Remembers that the scope waits for the user's decision on this topic.
    fn mark_pending_decision(&self, scope: &str, topic: &str);

    /// The topic the scope waits for a decision on.
    fn pending_decision(&self, scope: &str) -> Option<String>;

    /// The decision was taken.
    fn clear_pending_decision(&self, scope: &str);

    /// Drops the scope's turns and its pending decision.
    fn reset(&self, scope: &str) {
        self.clear(scope);
        self.clear_pending_decision(scope);
    }
}
