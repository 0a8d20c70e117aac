//! The sweep: deletes turns that have ended at once, those beyond a user's caps, audit entries after
//! their retention, and tombstones when no retry can come any more. Because a log that only
//! grows keeps what people were promised is gone.

mod metrics;
mod pace;
mod visit;

use std::collections::VecDeque;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use throughline_conversation_memory::{Chunk, LeaseOwner, Leases, Retention};
use throughline_domain::{Clock, Ids};
use throughline_tenancy::{Tenancy, Tenant};

pub use metrics::GcMetrics;

use self::visit::{Visit, Visited};
use crate::job::{Job, JobContext, Outcome, Report};
use crate::tenants::Round;

/// The claim on a tenant is one for every sweep, whoever starts it.
const LEASE: &str = "gc";

/// How a sweep goes about.
#[derive(Clone, Copy, Debug)]
pub struct GcSettings {
    /// Rows in one transaction.
    pub chunk: Chunk,
    /// After so long the next tenant is visited, so that a large one starves nobody.
    pub slice: Duration,
    /// A claim on a tenant ends by itself after so long; it is renewed at a third.
    pub lease_life: Duration,
}

impl Default for GcSettings {
    fn default() -> Self {
        Self {
            chunk: Chunk::default(),
            slice: Duration::from_secs(30),
            lease_life: Duration::from_mins(1),
        }
    }
}

/// What a sweep works with.
#[derive(Clone)]
pub struct GcParts {
    /// Which tenants there are, and their rules.
    pub tenancy: Arc<dyn Tenancy>,
    /// What is swept.
    pub retention: Arc<dyn Retention>,
    /// Who sweeps which tenant.
    pub leases: Arc<dyn Leases>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Ids of claims.
    pub ids: Arc<dyn Ids>,
    /// Counters.
    pub metrics: GcMetrics,
    /// How.
    pub settings: GcSettings,
}

/// Whom a sweep by schedule visits. One that an operator asks for visits everybody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visiting {
    /// Tenants that leave the time to the service: the job `gc`.
    AtServiceTime,
    /// Tenants whose own time has come: the job `gc_own_schedule`.
    AtTheirOwnTime,
}

/// The job.
pub struct Gc {
    parts: GcParts,
    visiting: Visiting,
}

type Fault = Box<dyn Error + Send + Sync>;

impl Gc {
    /// A sweep of those tenants.
    pub fn new(parts: GcParts, visiting: Visiting) -> Self {
        Self { parts, visiting }
    }

    /// Whether everything was done.
    async fn sweep(&self, context: &JobContext, report: &mut Report) -> Result<bool, Fault> {
        let request = context.request.clone().unwrap_or_default();
        if let Some(name) = &request.tenant {
            let tenant = self.parts.tenancy.tenant(name).await?;
            let tenant = tenant.ok_or_else(|| format!("there is no tenant {name}"))?;
            return self.go_round(vec![tenant].into(), context, report).await;
        }
        let unfinished = self.first_round(context, request.dry_run, report).await?;
        match unfinished {
            Some(unfinished) => self.go_round(unfinished, context, report).await,
            None => Ok(false),
        }
    }

    /// Visits each tenant for one slice. Those that need more are the answer; `None` when told to stop.
    async fn first_round(
        &self,
        context: &JobContext,
        dry_run: bool,
        report: &mut Report,
    ) -> Result<Option<VecDeque<Tenant>>, Fault> {
        let from = self.parts.leases.cursor(LEASE).await?;
        let mut round = Round::from(&*self.parts.tenancy, from);
        let mut unfinished = VecDeque::new();
        while let Some(tenant) = round.next().await? {
            if context.should_stop() {
                return Ok(None);
            }
            if !self.wants(&tenant, context).await? {
                continue;
            }
            report.tenants += 1;
            match self.visit(&tenant, context, report).await? {
                Visited::Finished => {}
                Visited::LeftToOthers => report.left_to_others += 1,
                Visited::SliceSpent => unfinished.push_back(tenant.clone()),
                Visited::Stopped => return Ok(None),
            }
            if !dry_run {
                self.parts.leases.move_cursor(LEASE, &tenant.id).await?;
            }
        }
        Ok(Some(unfinished))
    }

    /// Visits the tenants in turn, a slice each, until none needs more.
    async fn go_round(
        &self,
        mut tenants: VecDeque<Tenant>,
        context: &JobContext,
        report: &mut Report,
    ) -> Result<bool, Fault> {
        report.tenants = report.tenants.max(tenants.len() as u64);
        while let Some(tenant) = tenants.pop_front() {
            if context.should_stop() {
                return Ok(false);
            }
            match self.visit(&tenant, context, report).await? {
                Visited::Finished => {}
                Visited::LeftToOthers => report.left_to_others += 1,
                Visited::SliceSpent => tenants.push_back(tenant),
                Visited::Stopped => return Ok(false),
            }
        }
        Ok(true)
    }

    async fn visit(
        &self,
        tenant: &Tenant,
        context: &JobContext,
        report: &mut Report,
    ) -> Result<Visited, Fault> {
        let owner = LeaseOwner(self.parts.ids.ulid(self.parts.clock.now()).0);
        Visit::new(&self.parts, tenant, owner, context, report)
            .run()
            .await
    }

    async fn wants(&self, tenant: &Tenant, context: &JobContext) -> Result<bool, Fault> {
        if context.request.is_some() {
            return Ok(true);
        }
        let schedule = tenant.config.gc_schedule();
        match (self.visiting, schedule) {
            (Visiting::AtServiceTime, schedule) => Ok(schedule.is_none()),
            (Visiting::AtTheirOwnTime, None) => Ok(false),
            (Visiting::AtTheirOwnTime, Some(cron)) => {
                let last = self.parts.leases.finished_at(LEASE, &tenant.id).await?;
                let due = cron.next_after(last.unwrap_or(tenant.created_at));
                Ok(due.is_some_and(|due| due <= self.parts.clock.now()))
            }
        }
    }
}

#[async_trait]
impl Job for Gc {
    fn name(&self) -> &'static str {
        match self.visiting {
            Visiting::AtServiceTime => "gc",
            Visiting::AtTheirOwnTime => "gc_own_schedule",
        }
    }

    async fn run(&self, context: &JobContext) -> Report {
        let mut report = Report::empty();
        report.outcome = match self.sweep(context, &mut report).await {
            Ok(true) => Outcome::Done,
            Ok(false) => Outcome::Partial,
            Err(error) => Outcome::Failed(error),
        };
        report
    }
}
