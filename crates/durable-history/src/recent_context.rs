//! The orchestrator's side: what the person said elsewhere, for the next prompt.

use std::collections::{HashSet, VecDeque};
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use throughline_conversation_memory::{
    CONTEXT_BLOCK_BYTES, Cause, ContextBlock, Limit, RecentQuery, context_block,
};
use throughline_domain::{Clock, TenantId, UserId};

use crate::metrics::Read;
use crate::{HistoryMetrics, MemoryService, MemoryWatch, TurnContext};

/// Conversations whose warning is remembered.
const REMEMBERED: usize = 4_096;

/// How far and how patiently to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextLimits {
    /// Turns that are read.
    pub turns: Limit,
    /// How far back.
    pub age: Duration,
    /// Bytes of the block.
    pub bytes: usize,
    /// How long the turn may be held up.
    pub deadline: Duration,
}

impl Default for ContextLimits {
    fn default() -> Self {
        Self {
            turns: Limit::default(),
            age: Duration::from_hours(3 * 24),
            bytes: CONTEXT_BLOCK_BYTES,
            deadline: Duration::from_millis(500),
        }
    }
}

/// Reads a person's recent turns across all channels and makes the block of them.
pub struct RecentContext {
    memory: MemoryWatch,
    metrics: HistoryMetrics,
    clock: Arc<dyn Clock>,
    limits: ContextLimits,
    warned: Mutex<Warned>,
}

/// Conversations that were warned of, the oldest forgotten first.
#[derive(Default)]
struct Warned {
    known: HashSet<String>,
    order: VecDeque<String>,
}

impl Warned {
    /// Whether it is the first time.
    fn first(&mut self, conversation: &str) -> bool {
        if !self.known.insert(conversation.to_owned()) {
            return false;
        }
        self.order.push_back(conversation.to_owned());
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
        true
    }
}

impl RecentContext {
    /// Over the memory service, present or not.
    pub fn new(
        memory: MemoryWatch,
        metrics: HistoryMetrics,
        clock: Arc<dyn Clock>,
        limits: ContextLimits,
    ) -> Self {
        Self {
            memory,
            metrics,
            clock,
            limits,
            warned: Mutex::default(),
        }
    }

    /// The block for the current turn; an empty one when there is nothing to say, when the turn's context
    /// names no tenant or nobody who speaks (then nothing is asked), and when memory is away or slow: the
    /// turn goes on, and the log has one warning for each `conversation`.
    ///
    /// What the block quotes is data. It is escaped so that stored text can neither end the block nor pose
    /// as structure; the prompt around it should still say that it is not an instruction.
    pub async fn recent_context(&self, conversation: &str) -> ContextBlock {
        let context = TurnContext::current();
        let Some(tenant) = context.tenant.clone() else {
            return ContextBlock::default();
        };
        if context.user_id.is_none() && context.user_ref.is_none() {
            return ContextBlock::default();
        }
        let Some(service) = self.memory.service() else {
            let absent = Cause::text("there is no memory service");
            self.warn(conversation, &tenant, context.user_id, &absent);
            return ContextBlock::default();
        };
        let read = self.read(&service, &context, &tenant);
        let failure: Box<dyn Error + Send + Sync> =
            match tokio::time::timeout(self.limits.deadline, read).await {
                Ok(Ok(block)) => return block,
                Ok(Err(error)) => error,
                Err(late) => Box::new(late),
            };
        self.metrics.read_failed(Read::Recent);
        self.warn(conversation, &tenant, context.user_id, failure.as_ref());
        ContextBlock::default()
    }

    async fn read(
        &self,
        service: &MemoryService,
        context: &TurnContext,
        tenant: &TenantId,
    ) -> Result<ContextBlock, Box<dyn Error + Send + Sync>> {
        let Some(user) = user(service, context, tenant).await? else {
            return Ok(ContextBlock::default());
        };
        let now = self.clock.now();
        let query = RecentQuery {
            limit: self.limits.turns,
            since: Some(now.minus(self.limits.age)),
            exclude_canvas: context.canvas.clone(),
            ..RecentQuery::default()
        };
        let page = service.memory.recent(tenant, user, &query).await?;
        if page.turns.is_empty() {
            // A new user is normal (T-47).
            tracing::debug!(tenant.id = %tenant, user.id = %user, "no recent turns");
        }
        Ok(context_block(&page.turns, now, self.limits.bytes))
    }

    fn warn(
        &self,
        conversation: &str,
        tenant: &TenantId,
        user: Option<UserId>,
        reason: &(dyn Error + Send + Sync + 'static),
    ) {
        if self.warned.lock().first(conversation) {
            tracing::warn!(
                tenant.id = %tenant, user.id = user.map(tracing::field::display),
                error = reason as &dyn Error,
                "recent context is not available; the turn goes on without it"
            );
        }
    }
}

/// The user of the context, resolved at most once a turn. `None` where nobody can be asked.
async fn user(
    service: &MemoryService,
    context: &TurnContext,
    tenant: &TenantId,
) -> Result<Option<UserId>, Box<dyn Error + Send + Sync>> {
    if let Some(user) = context.user_id {
        return Ok(Some(user));
    }
    let (Some(identity), Some(named)) = (&service.identity, &context.user_ref) else {
        return Ok(None);
    };
    let resolved = context.resolve(identity.as_ref(), tenant, named).await?;
    Ok(Some(resolved.user_id))
}
