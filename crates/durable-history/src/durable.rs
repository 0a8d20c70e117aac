//! The history that a channel plugin takes in the place of the plain one.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use throughline_conversation_memory::{
    ChannelKind, ChannelScope, ClientMessageId, InvalidName, QueuedAuthor,
};
use throughline_domain::{Clock, Ids, TenantId, Timestamp, UserId};
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use crate::author::author;
use crate::captured::{Captured, without_nul};
use crate::hot::{Hot, HotTurn, Owner};
use crate::hydrate::Hydrations;
use crate::line::{Levels, Line, LineLimits, Work};
use crate::report::Report;
use crate::shared::Shared;
use crate::{
    ConversationHistory, FinishedTurn, HistoryConfig, HistoryMetrics, HistorySpool, HistoryTurn,
    MemoryWatch, Projection, TurnContext,
};

/// What a history is made of.
pub struct Parts {
    /// The channel. One history serves one.
    pub channel: ChannelKind,
    /// Where the memory service is, if it is.
    pub memory: MemoryWatch,
    /// The disk for what waits; without it what waits is lost with the process.
    pub spool: Option<Arc<HistorySpool>>,
    /// What is counted.
    pub metrics: HistoryMetrics,
    /// Now.
    pub clock: Arc<dyn Clock>,
    /// Keys of turns, jitter.
    pub ids: Arc<dyn Ids>,
    /// Limits.
    pub config: HistoryConfig,
}

/// A [`ConversationHistory`] whose turns are written behind to conversation memory, and come back from
/// it into scopes that are cold.
///
/// Tenant, user and canvas of a turn come from its [`TurnContext`]. Where tenant or user are missing, or
/// there is no memory service, it is the plain history and nothing else.
pub struct DurableConversationHistory {
    shared: Arc<Shared>,
    hydrations: Hydrations,
    tasks: TaskTracker,
    stop: CancellationToken,
    _stopped_when_dropped: DropGuard,
}

/// What was taken out of this process for a user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Purged {
    /// Turns of the hot ring.
    pub turns: u64,
    /// Turns that waited to be written, in this process or on its disk.
    pub waiting: u64,
}

/// What was not written when a history was shut down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unfinished {
    /// Turns and clearings that are lost with the process.
    pub in_memory: u64,
    /// Turns and clearings that the next process will write.
    pub on_disk: u64,
}

impl DurableConversationHistory {
    /// Starts a history and the tasks behind it. Must be called within a tokio runtime.
    pub fn start(parts: Parts) -> Self {
        let hot = Arc::new(Hot::new(parts.config.hot));
        let limits = LineLimits {
            entries: parts.config.waiting_turns,
            bytes: parts.config.waiting_bytes,
        };
        let shared = Arc::new(Shared {
            kind: parts.channel,
            memory: parts.memory,
            line: Line::new(limits),
            spool: parts.spool,
            report: Report::new(Arc::clone(&hot), parts.metrics.clone()),
            hot,
            metrics: parts.metrics,
            clock: parts.clock,
            ids: parts.ids,
            config: parts.config,
            shown: Mutex::new(Levels::default()),
            reads_paused: Mutex::new(None),
        });
        let stop = CancellationToken::new();
        let tasks = TaskTracker::new();
        let (own, stopping) = (Arc::clone(&shared), stop.clone());
        tasks.spawn(async move { crate::write_behind::write_behind(&own, &stopping).await });
        if let Some(spool) = shared.spool.clone() {
            let (own, stopping) = (Arc::clone(&shared), stop.clone());
            tasks.spawn(async move { crate::spool::drain(&own, &spool, &stopping).await });
        }
        Self {
            shared,
            hydrations: Hydrations::default(),
            tasks,
            _stopped_when_dropped: stop.clone().drop_guard(),
            stop,
        }
    }

    /// Returns when everything appended before is stored, in the outbox, refused or dropped. While the
    /// store is away that may be never: give it a deadline.
    pub async fn flush(&self) {
        loop {
            self.shared.line.emptied().await;
            let Some(spool) = &self.shared.spool else {
                return;
            };
            spool.emptied().await;
            if self.shared.line.levels().entries() == 0 {
                return;
            }
        }
    }

    /// Writes what waits, for no longer than that, and stops. What is on disk stays there.
    pub async fn shutdown(self, within: Duration) -> Unfinished {
        let _ = tokio::time::timeout(within, self.flush()).await;
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
        let in_memory = self.shared.line.levels().entries();
        let spool = self.shared.spool.as_ref();
        Unfinished {
            in_memory: u64::try_from(in_memory).unwrap_or(u64::MAX),
            on_disk: spool.map_or(0, |spool| spool.waiting()),
        }
    }

    /// Takes everything this process holds of a user out of it: their turns in every scope, and those
    /// that wait to be written. Others' turns in the same scopes stay. For whoever erases a user in this
    /// process (D-09, T-29, T-37); elsewhere the erasure epoch does the same with a broader brush.
    pub async fn clear_hot_cache_for_user(&self, tenant: &TenantId, user: UserId) -> Purged {
        let mut waiting = self.shared.line.forget_user(tenant, user);
        let turns = self.shared.hot.forget_user(tenant, user);
        if let Some(spool) = &self.shared.spool {
            match spool.forget_user(tenant, user).await {
                Ok(removed) => waiting += usize::try_from(removed).unwrap_or(0),
                Err(error) => {
                    let error: &dyn std::error::Error = &error;
                    tracing::error!(
                        tenant.id = %tenant, error,
                        "a user's turns could not be taken from the spool; the store will refuse them"
                    );
                }
            }
            spool.show(&self.shared.metrics);
        }
        self.shared.show_levels();
        let count = |count| u64::try_from(count).unwrap_or(u64::MAX);
        Purged {
            turns: count(turns),
            waiting: count(waiting),
        }
    }

    /// What of a call reaches the store. `None` where nothing does: no tenant, nobody who spoke, no
    /// service now or later.
    fn target(&self, context: &TurnContext, scope: &str) -> Option<Target> {
        let tenant = context.tenant.clone()?;
        let author = author(context)?;
        if !self.shared.memory.may_come() {
            return None;
        }
        match self.channel_scope(scope) {
            Ok(scope) => Some(Target {
                tenant,
                scope,
                author,
            }),
            Err(invalid) => {
                self.shared.report.unnamed(&tenant, &invalid);
                None
            }
        }
    }

    fn channel_scope(&self, scope: &str) -> Result<ChannelScope, InvalidName> {
        ChannelScope::new(self.shared.kind.clone(), scope)
    }

    /// The key that every attempt to write the turn has: the channel's own, or a new one.
    fn key(&self, target: &Target, turn: &FinishedTurn, now: Timestamp) -> ClientMessageId {
        let Target { tenant, scope, .. } = target;
        match &turn.message_id {
            Some(id) => ClientMessageId::from_turn_id(tenant, scope, id),
            None => ClientMessageId::parse(&self.shared.ids.ulid(now).to_string())
                .expect("a ULID is 26 plain characters"),
        }
    }

    /// Drops what must not be served any more.
    fn heed_epoch(&self, owner: &Owner) {
        if let (Some(tenant), Some(service)) = (owner, self.shared.memory.service()) {
            self.shared.heed_epoch(&service, tenant);
        }
    }
}

/// Where a call goes in the store, and for whom.
struct Target {
    tenant: TenantId,
    scope: ChannelScope,
    author: QueuedAuthor,
}

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
        let (Some(service), Some(target)) = (shared.memory.service(), self.target(&context, scope))
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
        let target = self.target(&context, scope);
        let key = target.as_ref().map(|target| self.key(target, &turn, now));
        let at = turn.at(now);
        let user_message: Arc<str> = turn.user_message.into();
        let assistant_answer: Arc<str> = turn.assistant_answer.into();
        let hot = HotTurn {
            message_id: turn.message_id,
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
