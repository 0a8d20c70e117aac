//! The plain history: in this process, gone with it.

use std::sync::Arc;

use async_trait::async_trait;
use throughline_domain::Clock;

use crate::hot::{Hot, HotTurn, Owner};
use crate::{ConversationHistory, FinishedTurn, HistoryTurn, HotLimits, Projection};

/// What a channel plugin has without a memory service, and what [`DurableConversationHistory`] is like
/// when there is none.
///
/// [`DurableConversationHistory`]: crate::DurableConversationHistory
pub struct InMemoryHistory {
    hot: Hot,
    clock: Arc<dyn Clock>,
}

/// A plain history knows of no tenants: the bare scope is its key.
const NOBODY: Owner = None;

impl InMemoryHistory {
    /// An empty history.
    pub fn new(limits: HotLimits, clock: Arc<dyn Clock>) -> Self {
        Self {
            hot: Hot::new(limits),
            clock,
        }
    }
}

#[async_trait]
impl ConversationHistory for InMemoryHistory {
    async fn get(&self, scope: &str) -> Vec<HistoryTurn> {
        self.hot.get(&NOBODY, scope, self.clock.now()).turns
    }

    fn append(&self, scope: &str, turn: FinishedTurn) {
        if scope.is_empty() || turn.is_empty() {
            return;
        }
        let now = self.clock.now();
        let message_id = turn.named().map(str::to_owned);
        let hot = HotTurn {
            at: turn.at(now),
            message_id,
            key: None,
            id: None,
            user: None,
            user_message: turn.user_message.into(),
            assistant_answer: turn.assistant_answer.into(),
            projection: Projection::Raw,
        };
        self.hot.append(&NOBODY, scope, hot, now);
    }

    fn clear(&self, scope: &str) {
        self.hot.clear(&NOBODY, scope, None);
    }

    fn mark_pending_decision(&self, scope: &str, topic: &str) {
        if !scope.is_empty() {
            self.hot.mark_decision(&NOBODY, scope, topic);
        }
    }

    fn pending_decision(&self, scope: &str) -> Option<String> {
        self.hot.decision(&NOBODY, scope)
    }

    fn clear_pending_decision(&self, scope: &str) {
        self.hot.clear_decision(&NOBODY, scope);
    }
}
