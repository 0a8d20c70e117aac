//! The part of a sweep that empties the spool. What the store refuses becomes a dead letter of the
//! outbox, where an operator finds it whichever process it waited in.

use std::collections::BTreeMap;

use throughline_conversation_memory::{Enqueued, OutboxError, QueuedAppend};
use throughline_domain::TenantId;
use throughline_spool::{Entry, EntryId, Verdict};

use super::offer::Answer;
use super::sweep::{Away, Sweep, Undecided};

const BATCH: usize = 256;

impl Sweep<'_> {
    /// A batch of the spool's choice, tenants in turn. Whether there was one. Each turn carries its own
    /// time, so that a lane need not wait for the one in it that failed.
    pub(super) async fn spool_round(&mut self) -> Result<bool, Away> {
        let Some(spool) = self.deps.spool.clone() else {
            return Ok(false);
        };
        let entries = match spool.next_batch(BATCH).await {
            Ok(entries) => entries,
            Err(error) => {
                let error: &dyn std::error::Error = &error;
                tracing::error!(error, "the spool cannot be read; it is tried again");
                return Ok(false);
            }
        };
        let busy = !entries.is_empty();
        let mut by_tenant: BTreeMap<TenantId, Vec<Entry>> = BTreeMap::new();
        for entry in entries {
            by_tenant
                .entry(entry.tenant.clone())
                .or_default()
                .push(entry);
        }
        let mut rest: Vec<EntryId> = Vec::new();
        let mut away = false;
        for (tenant, entries) in by_tenant {
            if away || self.should_stop() {
                rest.extend(entries.iter().map(|entry| entry.id));
                continue;
            }
            let ids: Vec<EntryId> = entries.iter().map(|entry| entry.id).collect();
            if let Ok(verdicts) = self.spooled(&tenant, entries).await {
                self.settle_spooled(verdicts).await;
            } else {
                away = true;
                rest.extend(ids);
            }
        }
        // Untried; if this fails their lease ends by itself.
        let _ = spool.release(rest).await;
        if away { Err(Away::Store) } else { Ok(busy) }
    }

    async fn spooled(
        &mut self,
        tenant: &TenantId,
        entries: Vec<Entry>,
    ) -> Result<Vec<(EntryId, Verdict)>, Away> {
        let mut verdicts = Vec::with_capacity(entries.len());
        let mut offered = Vec::with_capacity(entries.len());
        let mut appends = Vec::with_capacity(entries.len());
        for entry in entries {
            if let Some(append) = read(&entry) {
                offered.push(entry.id);
                appends.push(append);
            } else {
                let unreadable = Verdict::Reject("unreadable".to_owned());
                verdicts.push((entry.id, unreadable));
            }
        }
        let answers = self.answers(tenant, appends.clone()).await?;
        for ((id, append), answer) in offered.into_iter().zip(appends).zip(answers) {
            match answer {
                Answer::Stored => self.report.stored += 1,
                Answer::Duplicate => self.report.duplicates += 1,
                Answer::Gone => self.report.dropped += 1,
                Answer::Refused(reason) => {
                    let verdict = self.bury(tenant, &append, reason).await?;
                    verdicts.push((id, verdict));
                    continue;
                }
                Answer::Trouble(code) => {
                    self.hold(tenant, Undecided::Spool(id), code);
                    continue;
                }
            }
            verdicts.push((id, Verdict::Stored));
        }
        Ok(verdicts)
    }

    /// Into the outbox as a dead letter; where that cannot be, aside in the spool.
    async fn bury(
        &mut self,
        tenant: &TenantId,
        append: &QueuedAppend,
        reason: &'static str,
    ) -> Result<Verdict, Away> {
        match self.deps.outbox.bury(tenant, append, reason).await {
            Ok(Enqueued::New(_)) => {
                self.deps.counts.failed();
                self.report.dead += 1;
            }
            Ok(Enqueued::Again(_) | Enqueued::DeadLetter(_)) => self.report.duplicates += 1,
            Err(OutboxError::Gone) => self.report.dropped += 1,
            Err(OutboxError::Unavailable(_)) => return Err(Away::Store),
            Err(
                OutboxError::UnknownTenant(_)
                | OutboxError::KeyConflict(_)
                | OutboxError::Unscanned
                | OutboxError::Corrupt { .. },
            ) => return Ok(Verdict::Reject(reason.to_owned())),
        }
        Ok(Verdict::Stored)
    }

    async fn settle_spooled(&mut self, verdicts: Vec<(EntryId, Verdict)>) {
        let Some(spool) = &self.deps.spool else {
            return;
        };
        if verdicts.is_empty() {
            return;
        }
        match spool.settle(verdicts).await {
            Ok(settled) => {
                self.report.waiting += settled.retried;
                self.report.dead += settled.set_aside;
                for _ in 0..settled.set_aside {
                    self.deps.counts.failed();
                }
            }
            // They are offered again when their lease ends, and are duplicates then.
            Err(error) => {
                let error: &dyn std::error::Error = &error;
                tracing::error!(error, "the spool cannot be written; its entries stay");
            }
        }
    }

    pub(super) async fn decide_spooled(&mut self, id: EntryId, code: &str, charged: bool) {
        if charged {
            let verdict = Verdict::Retry(code.to_owned());
            self.settle_spooled(vec![(id, verdict)]).await;
        } else if let Some(spool) = &self.deps.spool {
            let _ = spool.release(vec![id]).await;
        }
    }
}

fn read(entry: &Entry) -> Option<QueuedAppend> {
    let document = std::str::from_utf8(&entry.payload).ok()?;
    QueuedAppend::decode(document, entry.enqueued_at).ok()
}
