//! Scans turns that were stored unscanned, whose scan failed, or that an older detector looked at
//! . Removes nothing; a turn that no scan gets through is masked whole (T-45).

use async_trait::async_trait;
use throughline_conversation_memory::MemoryError;
use throughline_redacted_memory::{Sweep, Swept};

use crate::job::{Done, Job, JobContext, Outcome, Report};

/// The job.
pub struct Redaction {
    sweep: Sweep,
    changes: Changes,
}

enum Changes {
    Widening,
    Any,
}

impl Redaction {
    /// What runs by the clock. Masks only grow.
    pub fn widening(sweep: Sweep) -> Self {
        Self {
            sweep,
            changes: Changes::Widening,
        }
    }

    /// What an operator asks for, for one tenant: every redacted turn is scanned again and the result
    /// stands, also where it masks less than before.
    pub fn narrowing(sweep: Sweep) -> Self {
        Self {
            sweep,
            changes: Changes::Any,
        }
    }

    async fn swept(&self, context: &JobContext) -> Result<Swept, Refused> {
        let request = context.request.clone().unwrap_or_default();
        let stop = || context.should_stop();
        match (&self.changes, &request.tenant) {
            (_, only) if request.dry_run => self.looked_at(only.as_ref()).await,
            (Changes::Widening, only) => Ok(self.sweep.scan_pending(only.as_ref(), &stop).await?),
            (Changes::Any, Some(tenant)) => Ok(self.sweep.narrow(tenant, &stop).await?),
            (Changes::Any, None) => Err(Refused::NoTenant),
        }
    }

    /// A dry run: the tenants, without a number, for counting them is reading them.
    async fn looked_at(
        &self,
        only: Option<&throughline_domain::TenantId>,
    ) -> Result<Swept, Refused> {
        let due = self.sweep.tenants_due().await?;
        let due = due
            .into_iter()
            .filter(|tenant| only.is_none_or(|only| only == tenant));
        Ok(Swept {
            tenants: due.map(|tenant| (tenant, Default::default())).collect(),
            finished: true,
        })
    }
}

#[derive(Debug, thiserror::Error)]
enum Refused {
    #[error("name the tenant whose masks may be narrowed")]
    NoTenant,
    #[error(transparent)]
    Memory(#[from] MemoryError),
}

#[async_trait]
impl Job for Redaction {
    fn name(&self) -> &'static str {
        match self.changes {
            Changes::Widening => "redaction",
            Changes::Any => "redaction_narrowing",
        }
    }

    async fn run(&self, context: &JobContext) -> Report {
        match self.swept(context).await {
            Ok(swept) => report(&swept),
            Err(error) => Report::failed(error),
        }
    }
}

fn report(swept: &Swept) -> Report {
    let mut report = Report::empty();
    report.tenants = swept.tenants.len() as u64;
    if !swept.finished {
        report.outcome = Outcome::Partial;
    }
    for (tenant, counts) in &swept.tenants {
        let passes = [
            ("scanned", counts.scanned, counts.bytes),
            ("failed", counts.failed, 0),
            ("covered", counts.covered, 0),
            ("kept", counts.kept, 0),
        ];
        let done = passes.into_iter().filter(|(_, rows, _)| *rows > 0);
        report.done.extend(done.map(|(pass, rows, bytes)| Done {
            tenant: tenant.clone(),
            pass,
            rows,
            bytes,
        }));
    }
    report
}
