//! The part of a sweep that empties the outbox.

use std::time::Duration;

use throughline_conversation_memory::{
    DueTenants, Fate, Leased, OutboxLease, OutboxSettlement, QueuedAppend, retry_wait,
};
use throughline_domain::{OutboxId, TenantId};

use super::offer::Answer;
use super::sweep::{Away, LEASE, Sweep, Undecided};

/// Tenants named at once.
const TENANTS: u32 = 1_000;
/// Entries of a tenant taken in its turn.
const BATCH: u32 = 64;
/// About how long an entry waits that was not at fault; a sixth of a first retry.
const SHORT: u32 = 6;

/// An entry this process holds.
#[derive(Clone, Copy)]
pub(super) struct Taken {
    id: OutboxId,
    attempts: u32,
}

impl From<&Leased> for Taken {
    fn from(leased: &Leased) -> Self {
        Self {
            id: leased.id,
            attempts: leased.attempts,
        }
    }
}

impl Taken {
    fn settled(self, fate: Fate) -> OutboxSettlement {
        OutboxSettlement {
            id: self.id,
            attempts: self.attempts,
            fate,
        }
    }
}

impl Sweep<'_> {
    /// A batch of every tenant that has something due. Whether anybody had.
    pub(super) async fn outbox_round(&mut self) -> Result<bool, Away> {
        let mut busy = false;
        let mut after: Option<TenantId> = None;
        loop {
            let named = self
                .deps
                .outbox
                .tenants(DueTenants::Append, after.as_ref(), TENANTS);
            let tenants = named.await.map_err(|_| Away::Store)?;
            for tenant in &tenants {
                if self.should_stop() {
                    return Ok(true);
                }
                match self.turn_of(tenant).await {
                    Ok(had) => busy |= had,
                    Err(away) => {
                        self.stuck(away)?;
                        busy = true;
                    }
                }
            }
            match tenants.last() {
                Some(last) if tenants.len() == TENANTS as usize => after = Some(last.clone()),
                _ => return self.round_ended(busy),
            }
        }
    }

    async fn turn_of(&mut self, tenant: &TenantId) -> Result<bool, Away> {
        let lease = OutboxLease {
            worker: self.deps.worker,
            limit: BATCH,
            lasts: LEASE,
        };
        let leased = self.deps.outbox.lease(tenant, lease).await;
        let leased = leased.map_err(|_| Away::Store)?;
        let mut settlements = Vec::with_capacity(leased.len());
        let mut offered = Vec::with_capacity(leased.len());
        let mut appends = Vec::with_capacity(leased.len());
        for entry in &leased {
            match QueuedAppend::decode(&entry.payload, entry.created_at) {
                Ok(append) => {
                    offered.push(Taken::from(entry));
                    appends.push(append);
                }
                Err(_) => settlements.push(self.refused(Taken::from(entry), "unreadable")),
            }
        }
        if !appends.is_empty() {
            let answers = match self.answers(tenant, appends).await {
                Ok(answers) => answers,
                Err(away) => {
                    // The lease would end by itself; the next sweep is sooner.
                    for entry in offered {
                        self.hold(tenant, Undecided::Outbox(entry), "away");
                    }
                    return Err(away);
                }
            };
            for (entry, answer) in offered.into_iter().zip(answers) {
                settlements.extend(self.fate(tenant, entry, &answer));
            }
        }
        self.settle(tenant, &settlements).await?;
        Ok(!leased.is_empty())
    }

    fn fate(
        &mut self,
        tenant: &TenantId,
        entry: Taken,
        answer: &Answer,
    ) -> Option<OutboxSettlement> {
        match answer {
            Answer::Stored => self.report.stored += 1,
            Answer::Duplicate => self.report.duplicates += 1,
            Answer::Gone => self.report.dropped += 1,
            Answer::Refused(reason) => return Some(self.refused(entry, reason)),
            Answer::Trouble(code) => {
                self.hold(tenant, Undecided::Outbox(entry), code);
                return None;
            }
        }
        Some(entry.settled(Fate::Done))
    }

    fn refused(&self, entry: Taken, reason: &str) -> OutboxSettlement {
        self.deps.counts.failed();
        let reason = reason.to_owned();
        entry.settled(Fate::Refused { reason })
    }

    async fn settle(&mut self, tenant: &TenantId, all: &[OutboxSettlement]) -> Result<(), Away> {
        if all.is_empty() {
            return Ok(());
        }
        let settled = self.deps.outbox.settle(tenant, self.deps.worker, all).await;
        let settled = settled.map_err(|_| Away::Store)?;
        self.report.waiting += settled.waiting;
        self.report.dead += settled.died;
        Ok(())
    }

    /// `charged`: the store took others, so it was the entry's own failure.
    pub(super) async fn decide_taken(
        &mut self,
        tenant: &TenantId,
        taken: Vec<(Taken, &'static str)>,
        charged: bool,
    ) {
        let settlement = |(entry, code): (Taken, &str)| {
            let random = self.deps.ids.number();
            if charged {
                self.deps.counts.failed();
                let code = code.to_owned();
                return entry.settled(Fate::Failed { code, random });
            }
            let soon: Duration = retry_wait(1, random) / SHORT;
            entry.settled(Fate::Postponed(self.deps.clock.now().plus(soon)))
        };
        let settlements: Vec<OutboxSettlement> = taken.into_iter().map(settlement).collect();
        // If even this finds the store away, the leases end by themselves.
        let _ = self.settle(tenant, &settlements).await;
    }
}
