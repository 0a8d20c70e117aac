//! Bringing a cold scope's turns back from the store (R-091, T-23, T-24).

use std::collections::HashMap;
use std::error::Error;
use std::sync::Arc;

use parking_lot::Mutex;
use throughline_conversation_memory::{ChannelScope, Limit, MemoryError, Turn};
use throughline_domain::TenantId;
use tokio::sync::Mutex as Turnstile;
use tokio::time::Instant;

use crate::MemoryService;
use crate::hot::{AsOf, Hydration};
use crate::metrics::{Hydrated, Read};
use crate::shared::Shared;

/// So often a read is tried because somebody was erased or a scope cleared while it went on.
const READS: u32 = 3;

/// Who goes through reads alone.
type Turnstiles = HashMap<(TenantId, ChannelScope), Arc<Turnstile<()>>>;

/// The reads that go on: a scope that several callers find cold at once is read once.
#[derive(Default)]
pub(crate) struct Hydrations(Mutex<Turnstiles>);

impl Hydrations {
    /// Hydrates the scope unless it is warm when its turn comes. Waits no longer than the deadline, and
    /// not at all while the store is known to be away. A read that is too late is given up; the scope
    /// stays cold, and the next `get` tries again.
    pub(crate) async fn hydrate(
        &self,
        shared: &Shared,
        service: &MemoryService,
        tenant: &TenantId,
        scope: &ChannelScope,
    ) {
        if is_paused(shared) {
            return;
        }
        let key = (tenant.clone(), scope.clone());
        let turnstile = Arc::clone(self.0.lock().entry(key.clone()).or_default());
        let read = async {
            let _alone = turnstile.lock().await;
            // Whoever was before may have found the store away.
            if !is_paused(shared) && is_cold(shared, tenant, scope) {
                read(shared, service, tenant, scope).await
            } else {
                Ok(())
            }
        };
        let outcome = tokio::time::timeout(shared.config.hydrate_deadline, read).await;
        self.leave(&key, turnstile);
        let failure: Box<dyn Error + Send + Sync> = match outcome {
            Ok(Ok(())) => return,
            Ok(Err(error)) => Box::new(error),
            Err(late) => Box::new(late),
        };
        failed(shared, tenant, failure.as_ref());
    }

    /// The last one out takes the turnstile away.
    fn leave(&self, key: &(TenantId, ChannelScope), turnstile: Arc<Turnstile<()>>) {
        let mut going_on = self.0.lock();
        drop(turnstile);
        if going_on
            .get(key)
            .is_some_and(|own| Arc::strong_count(own) == 1)
        {
            going_on.remove(key);
        }
    }
}

fn is_paused(shared: &Shared) -> bool {
    let paused = *shared.reads_paused.lock();
    paused.is_some_and(|until| Instant::now() < until)
}

fn is_cold(shared: &Shared, tenant: &TenantId, scope: &ChannelScope) -> bool {
    shared.hot.is_cold(&Some(tenant.clone()), scope.id())
}

async fn read(
    shared: &Shared,
    service: &MemoryService,
    tenant: &TenantId,
    scope: &ChannelScope,
) -> Result<(), MemoryError> {
    if let Some(spool) = &shared.spool {
        // What the process before this one left on disk belongs to the past that is asked for.
        spool.caught_up().await;
    }
    let most = u32::try_from(shared.config.hot.turns).unwrap_or(Limit::MAX);
    let Some(limit) = Limit::new(most) else {
        return Ok(());
    };
    for _ in 0..READS {
        let as_of = shared.hot.as_of(tenant);
        let turns = service.memory.history(tenant, scope, limit).await?;
        // The answer may carry a newer epoch, and may have been read before it.
        shared.heed_epoch(service, tenant);
        if merge(shared, tenant, scope, &turns, as_of) {
            let found = if turns.is_empty() {
                Hydrated::Empty
            } else {
                Hydrated::Found
            };
            shared.metrics.hydrated(found);
            return Ok(());
        }
    }
    // Things change as fast as this can read: nothing old is served, the next `get` tries again.
    Ok(())
}

fn merge(
    shared: &Shared,
    tenant: &TenantId,
    scope: &ChannelScope,
    turns: &[Turn],
    as_of: AsOf,
) -> bool {
    let now = shared.clock.now();
    let hydration = Hydration {
        turns,
        not_before: now.minus(shared.config.hydrate_max_age),
        as_of,
    };
    shared.hot.hydrate(tenant, scope.id(), &hydration, now)
}

fn failed(shared: &Shared, tenant: &TenantId, error: &(dyn Error + Send + Sync + 'static)) {
    shared.metrics.read_failed(Read::Scope);
    shared.metrics.hydrated(Hydrated::Failed);
    let until = Instant::now() + shared.config.hydrate_pause;
    *shared.reads_paused.lock() = Some(until);
    tracing::warn!(
        tenant.id = %tenant, error = error as &dyn Error,
        "a conversation could not be read from memory; it goes on with what is here"
    );
}
