//! The calls of a plugin.

use std::borrow::Cow;
use std::sync::Arc;

use async_trait::async_trait;

use super::DurableConversationHistory;
use crate::captured::{Captured, without_nul};
use crate::hot::HotTurn;
use crate::line::Work;
use crate::{ConversationHistory, FinishedTurn, HistoryTurn, Projection, TurnContext};

/// The scope under the name that the store can keep: here and there it must be the same (T-60).
fn nameable(scope: &str) -> Cow<'_, str> {
    if scope.contains('\0') {
        Cow::Owned(without_nul(scope))
    } else {
        Cow::Borrowed(scope)
    }
}

#[async_trait]
impl ConversationHistory for DurableConversationHistory {
    async fn get(&self, scope: &str) -> Vec<HistoryTurn> {
        if scope.is_empty() {
            return Vec::new();
        }
        let scope = &*nameable(scope);
        let context = TurnContext::current();
        self.heed_epoch(&context.tenant);
        let shared = &self.shared;
        let found = shared.hot.get(&context.tenant, scope, shared.clock.now());
        if !found.cold {
            return found.turns;
        }
        let (Some(service), Ok(Some(target))) =
            (shared.memory.service(), self.target(&context, scope))
        else {
            return found.turns;
        };
        self.hydrations
            .hydrate(shared, &service, &target.tenant, &target.scope)
            .await;
        let now = shared.clock.now();
        shared.hot.get(&context.tenant, scope, now).turns
    }

    fn append(&self, scope: &str, turn: FinishedTurn) {
        if scope.is_empty() || turn.is_empty() {
            return;
        }
        let scope = &*nameable(scope);
        let context = TurnContext::current();
        self.heed_epoch(&context.tenant);
        let now = self.shared.clock.now();
        let target = self.target(&context, scope).unwrap_or_else(|invalid| {
            self.shared.report.unnamed(&context.tenant, &invalid);
            None
        });
        let key = target.as_ref().map(|target| self.key(target, &turn, now));
        let at = turn.at(now);
        let message_id = turn.named().map(str::to_owned);
        let user_message: Arc<str> = turn.user_message.into();
        let assistant_answer: Arc<str> = turn.assistant_answer.into();
        let hot = HotTurn {
            message_id,
            key: key.clone(),
            id: None,
            user: context.user_id,
            at,
            user_message: Arc::clone(&user_message),
            assistant_answer: Arc::clone(&assistant_answer),
            projection: Projection::Raw,
        };
        let at = self.shared.hot.append(&context.tenant, scope, hot, now);
        if let (Some(target), Some(key)) = (target, key) {
            let captured = Captured {
                author: target.author,
                scope: target.scope,
                canvas: context.canvas,
                key,
                at,
                at_given: turn.timestamp_ms.is_some(),
                user_message,
                assistant_answer,
                tool_calls: turn.tool_calls,
                metadata: turn.metadata,
            };
            let work = Work::Append(Arc::new(captured));
            self.shared.enqueue(&target.tenant, work);
        }
    }

    /// The store learns of it like of a turn, behind the turns before it. Until it does, nothing of
    /// before comes back here (T-24).
    fn clear(&self, scope: &str) {
        let scope = &*nameable(scope);
        let shared = &self.shared;
        let tenant = TurnContext::current().tenant;
        let named = self.channel_scope(scope).ok();
        match (&tenant, named) {
            (Some(of), Some(named)) if shared.memory.may_come() => {
                let now = shared.clock.now();
                shared.hot.clear(&tenant, scope, Some(now));
                shared.enqueue(of, Work::Clear(named, now));
            }
            _ => shared.hot.clear(&tenant, scope, None),
        }
    }

    fn mark_pending_decision(&self, scope: &str, topic: &str) {
        if !scope.is_empty() {
            let owner = TurnContext::current().tenant;
            self.shared
                .hot
                .mark_decision(&owner, &nameable(scope), topic);
        }
    }

    fn pending_decision(&self, scope: &str) -> Option<String> {
        let owner = TurnContext::current().tenant;
        self.shared.hot.decision(&owner, &nameable(scope))
    }

    fn clear_pending_decision(&self, scope: &str) {
        let owner = TurnContext::current().tenant;
        self.shared.hot.clear_decision(&owner, &nameable(scope));
    }
}
