//! Compares every user's counters with their turns and mends them (T-71). Nothing should ever be
//! found; what is found is counted and logged, because the caps trust the counters.

use std::sync::Arc;

use async_trait::async_trait;
use throughline_conversation_memory::{Reconciled, Retention, RetentionError};
use throughline_domain::TenantId;
use throughline_tenancy::Tenancy;

use crate::gc::GcMetrics;
use crate::job::{Done, Job, JobContext, Outcome, Report};
use crate::tenants::Round;

/// Users a step; each step is one look and, rarely, some mending.
const USERS: u32 = 100;

/// The job.
pub struct Reconcile {
    tenancy: Arc<dyn Tenancy>,
    retention: Arc<dyn Retention>,
    metrics: GcMetrics,
}

impl Reconcile {
    /// Over all tenants of this store.
    pub fn new(
        tenancy: Arc<dyn Tenancy>,
        retention: Arc<dyn Retention>,
        metrics: GcMetrics,
    ) -> Self {
        Self {
            tenancy,
            retention,
            metrics,
        }
    }

    async fn reconcile(
        &self,
        context: &JobContext,
        report: &mut Report,
    ) -> Result<bool, Box<dyn std::error::Error + Send + Sync>> {
        let only = context
            .request
            .as_ref()
            .and_then(|asked| asked.tenant.clone());
        let mut round = Round::from(&*self.tenancy, None);
        while let Some(tenant) = round.next().await? {
            if only.as_ref().is_some_and(|only| *only != tenant.id) {
                continue;
            }
            if context.should_stop() {
                return Ok(false);
            }
            report.tenants += 1;
            let found = mend(&self.retention, &self.metrics, &tenant.id, context).await?;
            if found.drifted > 0 {
                report.done.push(Done {
                    tenant: tenant.id,
                    pass: "drift",
                    rows: found.drifted,
                    bytes: found.bytes_off,
                });
            }
        }
        Ok(!context.should_stop())
    }
}

/// Reconciles one tenant, as far as the run may go.
pub(crate) async fn mend(
    retention: &Arc<dyn Retention>,
    metrics: &GcMetrics,
    tenant: &TenantId,
    context: &JobContext,
) -> Result<Reconciled, RetentionError> {
    let mut all = Reconciled::default();
    loop {
        let found = retention.reconcile(tenant, all.next, USERS).await?;
        metrics.drifted_users.inc_by(found.drifted);
        metrics.drift_turns.inc_by(found.turns_off);
        metrics.drift_bytes.inc_by(found.bytes_off);
        all.users += found.users;
        all.drifted += found.drifted;
        all.turns_off += found.turns_off;
        all.bytes_off += found.bytes_off;
        all.next = found.next;
        if found.next.is_none() || context.should_stop() {
            break;
        }
    }
    if all.drifted > 0 {
        tracing::error!(
            tenant.id = %tenant,
            users = all.drifted,
            turns = all.turns_off,
            bytes = all.bytes_off,
            "counters disagreed with turns and were mended"
        );
    }
    Ok(all)
}

#[async_trait]
impl Job for Reconcile {
    fn name(&self) -> &'static str {
        "reconcile"
    }

    async fn run(&self, context: &JobContext) -> Report {
        let mut report = Report::empty();
        report.outcome = match self.reconcile(context, &mut report).await {
            Ok(true) => Outcome::Done,
            Ok(false) => Outcome::Partial,
            Err(error) => Outcome::Failed(error),
        };
        report
    }
}
