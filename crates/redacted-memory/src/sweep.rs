//! Looks through what the store holds unscanned, and through what an older detector looked at.
//!
//! Nothing is held while a scan runs, and a result is written only over the row that was read. So a
//! process that dies anywhere in here leaves every row as it was: pending, or under its old masks.

mod verdict;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use throughline_conversation_memory::{Due, MemoryError, RedactionQueue, Settlement};
use throughline_domain::{Clock, TenantId, TurnId};

use crate::scan::Scanner;
use verdict::{Changes, Verdict};

/// Turns of one tenant before the next tenant's are looked at.
const CHUNK: u32 = 64;
/// Tenants asked for at once.
const TENANTS: u32 = 200;
/// Turns of one tenant that a run may fail to settle before it leaves the tenant to the next run.
const LEFT: usize = 1_000;
/// A scan that takes longer has failed. Longer than an append's patience, for here nobody waits.
const PATIENCE: Duration = Duration::from_secs(10);

/// A failed scan is tried so often; then the turn is covered whole (T-45).
pub const FAILURES: u32 = 5;

/// The sweep over one store.
#[derive(Clone)]
pub struct Sweep {
    queue: Arc<dyn RedactionQueue>,
    scanner: Scanner,
    clock: Arc<dyn Clock>,
    patience: Duration,
}

/// What became of one tenant's turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Turns that were scanned and settled.
    pub scanned: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Turns whose scan failed; they wait on.
    pub failed: u64,
    /// Turns that were covered whole, because their scan had failed too often.
    pub covered: u64,
    /// Turns that keep masks which the present detector would not make.
    pub kept: u64,
}

/// What a run did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// By tenant; tenants without anything due are left out.
    pub tenants: BTreeMap<TenantId, Counts>,
    /// Whether nothing was left but what failed.
    pub finished: bool,
}

impl Sweep {
    /// Over the whole store.
    pub fn new(queue: Arc<dyn RedactionQueue>, scanner: Scanner, clock: Arc<dyn Clock>) -> Self {
        Self {
            queue,
            scanner,
            clock,
            patience: PATIENCE,
        }
    }

    /// The same, giving a scan up after another time.
    #[must_use]
    pub fn patient_for(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Scans what is due: a chunk of every tenant in turn, until nothing is left or `stop` says
    /// so. A result that hides less than the one before keeps the old masks beside its own. `only` is
    /// for one tenant.
    pub async fn scan_pending(
        &self,
        only: Option<&TenantId>,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<Swept, MemoryError> {
        let mut swept = Swept::default();
        let mut left: BTreeMap<TenantId, Vec<TurnId>> = BTreeMap::new();
        let outcome = self.rounds(only, stop, &mut swept, &mut left).await;
        self.measure().await?;
        swept.finished = outcome?;
        Ok(swept)
    }

    /// Scans a tenant's redacted turns again and lets each result stand, also where it hides less than
    /// the one before: what an operator asks for when a detector was wrong. Turns whose scan fails
    /// stay as they are.
    pub async fn narrow(
        &self,
        tenant: &TenantId,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<Swept, MemoryError> {
        let mut swept = Swept::default();
        let mut after = None;
        loop {
            if stop() {
                return Ok(swept);
            }
            let due = self.queue.redacted(tenant, after, CHUNK).await?;
            let Some(last) = due.last() else {
                swept.finished = true;
                return Ok(swept);
            };
            after = Some(last.turn.id);
            self.settle(tenant, due, Changes::Any, &mut swept).await?;
        }
    }

    /// Tells the metrics how much waits and for how long.
    pub async fn measure(&self) -> Result<(), MemoryError> {
        let backlog = self.queue.backlog().await?;
        let age = backlog
            .oldest
            .map_or(Duration::ZERO, |oldest| self.clock.now().since(oldest));
        self.scanner.metrics().waiting(backlog.pending, age);
        Ok(())
    }

    /// Tenants that have something due, for a look without a scan.
    pub async fn tenants_due(&self) -> Result<Vec<TenantId>, MemoryError> {
        let version = self.scanner.identity().version;
        let mut all = Vec::new();
        loop {
            let page = self.queue.tenants_due(version, all.last(), TENANTS).await?;
            if page.is_empty() {
                return Ok(all);
            }
            all.extend(page);
        }
    }

    /// Whether it came to the end by itself.
    async fn rounds(
        &self,
        only: Option<&TenantId>,
        stop: &(dyn Fn() -> bool + Sync),
        swept: &mut Swept,
        left: &mut BTreeMap<TenantId, Vec<TurnId>>,
    ) -> Result<bool, MemoryError> {
        loop {
            let tenants = match only {
                Some(tenant) => vec![tenant.clone()],
                None => self.tenants_due().await?,
            };
            let mut progress = false;
            for tenant in tenants {
                if stop() {
                    return Ok(false);
                }
                let left = left.entry(tenant.clone()).or_default();
                progress |= self.chunk(&tenant, swept, left).await?;
            }
            if !progress {
                return Ok(true);
            }
        }
    }

    /// Whether there was anything to do. Every turn of the chunk is settled or `left` afterwards, so a
    /// run ends.
    async fn chunk(
        &self,
        tenant: &TenantId,
        swept: &mut Swept,
        left: &mut Vec<TurnId>,
    ) -> Result<bool, MemoryError> {
        if left.len() >= LEFT {
            return Ok(false);
        }
        let version = self.scanner.identity().version;
        let due = self.queue.due(tenant, version, CHUNK, left).await?;
        if due.is_empty() {
            return Ok(false);
        }
        let not_written = self.settle(tenant, due, Changes::Widening, swept).await?;
        left.extend(not_written);
        Ok(true)
    }

    /// Scans and writes; answers the turns that are not done.
    async fn settle(
        &self,
        tenant: &TenantId,
        due: Vec<Due>,
        changes: Changes,
        swept: &mut Swept,
    ) -> Result<Vec<TurnId>, MemoryError> {
        let mut judged = Vec::with_capacity(due.len());
        for due in due {
            judged.push(self.judge(due, changes).await);
        }
        let settlements: Vec<Settlement> = judged
            .iter()
            .map(|judged| judged.settlement.clone())
            .collect();
        let written = self.queue.settle(tenant, &settlements).await?;
        let counts = swept.tenants.entry(tenant.clone()).or_default();
        let mut left = Vec::new();
        for judged in judged {
            let id = judged.settlement.turn;
            let done = written.contains(&id) && judged.verdict != Verdict::Failed;
            if !done {
                left.push(id);
            }
            if written.contains(&id) {
                self.count(tenant, &judged, counts);
            }
        }
        Ok(left)
    }

    fn count(&self, tenant: &TenantId, judged: &verdict::Judged, counts: &mut Counts) {
        match judged.verdict {
            Verdict::Failed => counts.failed += 1,
            Verdict::Scanned { kept } => {
                counts.scanned += 1;
                counts.bytes += judged.bytes;
                counts.kept += u64::from(kept);
                self.scanner.metrics().kept(kept);
            }
            Verdict::Covered => {
                counts.covered += 1;
                self.scanner.metrics().covered();
                tracing::error!(
                    tenant.id = %tenant,
                    turn.id = %judged.settlement.turn,
                    failures = judged.settlement.failures,
                    "a turn could not be scanned and is masked whole; read it raw to see why"
                );
            }
        }
    }
}
