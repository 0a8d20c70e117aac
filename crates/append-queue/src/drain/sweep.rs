//! The state of one sweep, and its way through the tenants.

use std::collections::HashMap;
use std::time::Duration;

use throughline_conversation_memory::{DueTenants, QueuedAppend};
use throughline_domain::TenantId;
use throughline_spool::EntryId;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::offer::{Answer, offer};
use super::outbox::Taken;
use super::{Deps, Report};

/// A sweep ends after this time and leaves the rest to the next one.
const BUDGET: Duration = Duration::from_secs(30);
/// Longer than a sweep can take, so that what a sweep holds stays its own.
pub(super) const LEASE: Duration = Duration::from_mins(2);
/// So many failures one after the other, with nothing taken in this sweep, end a tenant's turn: the store
/// is away, or this tenant's entries cannot be stored.
const FAILURES_IN_A_ROW: u32 = 8;
/// So many tenants in that state, with nothing taken in this sweep, are a store that is away.
const STUCK_TENANTS: u32 = 3;

/// Why a sweep does not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Away {
    /// With nobody: the store is away.
    Store,
    /// With this tenant: all of its entries failed, though the database answers.
    Tenant,
}

/// An entry that failed without an answer, until it is known whose fault it was.
pub(super) enum Undecided {
    Outbox(Taken),
    Spool(EntryId),
}

pub(super) struct Sweep<'a> {
    pub(super) deps: &'a Deps,
    stop: &'a CancellationToken,
    ends: Instant,
    pub(super) report: Report,
    /// Whether the store took or refused anything.
    alive: bool,
    failures: u32,
    stuck: u32,
    pub(super) undecided: HashMap<TenantId, Vec<(Undecided, &'static str)>>,
}

impl<'a> Sweep<'a> {
    pub(super) fn new(deps: &'a Deps, stop: &'a CancellationToken) -> Self {
        Self {
            deps,
            stop,
            ends: Instant::now() + BUDGET,
            report: Report::default(),
            alive: false,
            failures: 0,
            stuck: 0,
            undecided: HashMap::new(),
        }
    }

    pub(super) fn should_stop(&self) -> bool {
        self.stop.is_cancelled() || Instant::now() >= self.ends
    }

    /// Rounds over outbox and spool in turn, until neither has anything due.
    pub(super) async fn run(&mut self) -> Result<(), Away> {
        loop {
            let outbox = self.outbox_round().await?;
            let spool = self.spool_round().await?;
            if self.should_stop() {
                self.report.unfinished = outbox || spool;
                return Ok(());
            }
            if !outbox && !spool {
                return Ok(());
            }
        }
    }

    /// Settles what was held back, and tidies up if the store is there.
    pub(super) async fn finish(mut self, ended: Result<(), Away>) -> Report {
        self.report.away = ended.is_err();
        let charged = self.alive && ended.is_ok();
        for (tenant, held) in std::mem::take(&mut self.undecided) {
            let mut taken = Vec::new();
            for (entry, code) in held {
                match entry {
                    Undecided::Outbox(entry) => taken.push((entry, code)),
                    Undecided::Spool(id) => self.decide_spooled(id, code, charged).await,
                }
            }
            self.decide_taken(&tenant, taken, charged).await;
        }
        if ended.is_ok() && !self.should_stop() {
            self.expire().await;
        }
        self.report
    }

    /// One answer an append. A batch that failed as a whole is offered again one by one, so that a
    /// single entry cannot hold its neighbours up.
    pub(super) async fn answers(
        &mut self,
        tenant: &TenantId,
        appends: Vec<QueuedAppend>,
    ) -> Result<Vec<Answer>, Away> {
        let mut answers = offer(self.deps, tenant, appends.clone()).await;
        self.alive |= answers.iter().any(Answer::shows_life);
        if answers.iter().all(Answer::shows_life) {
            self.failures = 0;
            return Ok(answers);
        }
        self.probe().await?;
        if answers.len() == 1 {
            self.failed()?;
            return Ok(answers);
        }
        for (answer, append) in answers.iter_mut().zip(appends) {
            if answer.shows_life() || self.should_stop() {
                continue;
            }
            let again = offer(self.deps, tenant, vec![append]).await;
            *answer = again.into_iter().next().unwrap_or(answer.clone());
            if answer.shows_life() {
                self.alive = true;
                self.failures = 0;
            } else {
                self.failed()?;
            }
        }
        Ok(answers)
    }

    /// One more failure of an entry that was offered alone.
    fn failed(&mut self) -> Result<(), Away> {
        self.failures += 1;
        if !self.alive && self.failures >= FAILURES_IN_A_ROW {
            self.failures = 0;
            return Err(Away::Tenant);
        }
        Ok(())
    }

    /// A tenant's turn ended because of `away`: whether the next one may have its turn.
    pub(super) fn stuck(&mut self, away: Away) -> Result<(), Away> {
        self.stuck += 1;
        if away == Away::Store || self.stuck >= STUCK_TENANTS {
            return Err(Away::Store);
        }
        Ok(())
    }

    /// After a round: those that were stuck get another turn if the store took something of others.
    pub(super) fn round_ended(&mut self, busy: bool) -> Result<bool, Away> {
        let stuck = std::mem::take(&mut self.stuck);
        if stuck > 0 && !self.alive {
            return Err(Away::Store);
        }
        Ok(busy)
    }

    /// Whether the database answers at all: the outbox lies in the same one.
    async fn probe(&self) -> Result<(), Away> {
        let asked = self.deps.outbox.tenants(DueTenants::Append, None, 1).await;
        asked.map(|_| ()).map_err(|_| Away::Store)
    }

    pub(super) fn hold(&mut self, tenant: &TenantId, entry: Undecided, code: &'static str) {
        let held = self.undecided.entry(tenant.clone()).or_default();
        held.push((entry, code));
    }
}
