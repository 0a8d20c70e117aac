//! Finding a durable place for an append.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::{StreamExt, stream};
use throughline_conversation_memory::{
    AppendQueue, Cause, Enqueued, NotKept, Outbox, OutboxError, QueuedAppend,
};
use throughline_domain::TenantId;
use throughline_spool::{NewEntry, Queued, Spool, SpoolError};
use tokio::sync::Semaphore;

use crate::QueueMetrics;
use crate::metrics::Place;

/// As many of one call share a sync of the spool.
const AT_ONCE: usize = 64;
/// As many of one call ask the database side by side: it is in trouble already.
const ASKING: usize = 4;
/// How long the database may take, where there is another place.
const PATIENCE: Duration = Duration::from_secs(2);

/// The outbox while the database answers, else the spool, if there is one.
pub struct Keeper {
    outbox: Arc<dyn Outbox>,
    spool: Option<Spool>,
    metrics: Arc<QueueMetrics>,
}

/// The appends of one call: when the database was away for one, the others do not ask it.
struct Call<'a> {
    tenant: &'a TenantId,
    asking: Semaphore,
    away: AtomicBool,
}

/// Why the outbox has not got it.
enum Passed {
    /// For good.
    Refused(NotKept),
    /// It may get in somewhere else.
    On(NotKept),
}

impl Keeper {
    /// Over an outbox, and a spool where one is configured.
    pub fn new(outbox: Arc<dyn Outbox>, spool: Option<Spool>, metrics: Arc<QueueMetrics>) -> Self {
        Self {
            outbox,
            spool,
            metrics,
        }
    }

    async fn one(&self, call: &Call<'_>, append: QueuedAppend) -> Result<(), NotKept> {
        let passed = match self.in_outbox(call, &append).await {
            Ok(()) => {
                self.metrics.queued(Place::Outbox);
                return Ok(());
            }
            Err(Passed::Refused(not_kept)) => return Err(not_kept),
            Err(Passed::On(not_kept)) => not_kept,
        };
        let Some(spool) = &self.spool else {
            return Err(passed);
        };
        let queued = spool.enqueue(entry(call.tenant, &append)).await;
        in_spool(queued, &passed)?;
        self.metrics.queued(Place::Spool);
        Ok(())
    }

    async fn in_outbox(&self, call: &Call<'_>, append: &QueuedAppend) -> Result<(), Passed> {
        let not_asked = || {
            let cause = Cause::text("the database did not answer for another turn of this call");
            Passed::On(NotKept::Unavailable {
                perhaps_kept: false,
                cause,
            })
        };
        let permit = call.asking.acquire().await.map_err(|_| not_asked())?;
        if call.away.load(Ordering::Relaxed) {
            return Err(not_asked());
        }
        let asked = self.outbox.enqueue(call.tenant, append);
        let answer = if self.spool.is_some() {
            let late = |_| OutboxError::Unavailable(Cause::text("no answer within two seconds"));
            let answer = tokio::time::timeout(PATIENCE, asked).await;
            answer.map_err(late).flatten()
        } else {
            asked.await
        };
        drop(permit);
        let refused = |not_kept| Err(Passed::Refused(not_kept));
        match answer {
            Ok(Enqueued::New(_) | Enqueued::Again(_)) => Ok(()),
            Ok(Enqueued::DeadLetter(_)) => refused(NotKept::DeadLetter),
            Err(OutboxError::UnknownTenant(tenant)) => refused(NotKept::UnknownTenant(tenant)),
            Err(OutboxError::KeyConflict(_)) => refused(NotKept::KeyConflict),
            Err(OutboxError::Gone) => refused(NotKept::Gone),
            Err(error) => {
                let away = matches!(error, OutboxError::Unavailable(_));
                call.away.fetch_or(away, Ordering::Relaxed);
                Err(Passed::On(NotKept::Unavailable {
                    perhaps_kept: away,
                    cause: Cause::new(error),
                }))
            }
        }
    }
}

#[async_trait]
impl AppendQueue for Keeper {
    async fn keep(
        &self,
        tenant: &TenantId,
        appends: Vec<QueuedAppend>,
    ) -> Vec<Result<(), NotKept>> {
        let call = Call {
            tenant,
            asking: Semaphore::new(ASKING),
            away: AtomicBool::new(false),
        };
        stream::iter(appends)
            .map(|append| self.one(&call, append))
            .buffered(AT_ONCE)
            .collect()
            .await
    }
}

fn entry(tenant: &TenantId, append: &QueuedAppend) -> NewEntry {
    let turn = append.turn();
    let scope = turn.scope();
    NewEntry {
        tenant: tenant.clone(),
        user: append.user(),
        key: turn.key().as_str().to_owned(),
        // A kind has no NUL, so no two scopes share a lane.
        order: Some(format!("{}\0{}", scope.kind().as_str(), scope.id())),
        digest: Some(*turn.digest().as_bytes()),
        payload: append.encode().into_bytes(),
    }
}

/// `passed` is what the outbox said before.
fn in_spool(queued: Result<Queued, SpoolError>, passed: &NotKept) -> Result<(), NotKept> {
    let before = matches!(
        passed,
        NotKept::Unavailable {
            perhaps_kept: true,
            ..
        }
    );
    match queued {
        Ok(Queued::New(_) | Queued::Again(_)) => Ok(()),
        Ok(Queued::SetAside(_)) => Err(NotKept::DeadLetter),
        Err(SpoolError::KeyConflict(_)) => Err(NotKept::KeyConflict),
        Err(error) => Err(NotKept::Unavailable {
            perhaps_kept: before || matches!(error, SpoolError::Storage(_)),
            cause: Cause::new(error),
        }),
    }
}
