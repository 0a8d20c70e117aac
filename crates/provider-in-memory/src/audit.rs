//! The audit trail: the latest entries of each tenant.

use std::collections::VecDeque;

use async_trait::async_trait;
use throughline_conversation_memory::{Audit, AuditDetail, AuditEvent, AuditQuery, MemoryError};
use throughline_domain::{Actor, AuditId, Ids, TenantId, Timestamp, UserId};

use crate::InMemoryStore;

const KEPT: usize = 1_000;

/// Oldest first.
#[derive(Default)]
pub(crate) struct Trail {
    events: VecDeque<AuditEvent>,
}

impl Trail {
    pub(crate) fn write(
        &mut self,
        ids: &dyn Ids,
        now: Timestamp,
        actor: &Actor,
        (user_id, target_id): (Option<UserId>, Option<UserId>),
        detail: AuditDetail,
    ) {
        if self.events.len() == KEPT {
            self.events.pop_front();
        }
        self.events.push_back(AuditEvent {
            id: AuditId::new(ids.ulid(now)),
            actor: actor.clone(),
            user_id,
            target_id,
            detail,
            created_at: now,
        });
    }

    /// How many entries of the person an erasure deletes, and how many lose their ids.
    pub(crate) fn inventory(&self, ids: &[UserId]) -> (u64, u64) {
        let theirs = self.events.iter().filter(|event| is_about(event, ids));
        let (raw, kept): (Vec<_>, Vec<_>) = theirs.partition(|event| is_raw(event));
        (raw.len() as u64, kept.len() as u64)
    }

    /// Deletes up to `rows` entries from before `before`, oldest first (T-67).
    pub(crate) fn delete_before(&mut self, before: Timestamp, rows: usize) -> usize {
        let old = self.count_before(before).min(rows);
        self.events.drain(..old).count()
    }

    /// How many entries there are from before `before`.
    pub(crate) fn count_before(&self, before: Timestamp) -> usize {
        let old = self.events.iter();
        old.take_while(|event| event.created_at < before).count()
    }

    /// Deletes raw reads, takes the ids out of the rest, out of their details too (T-36).
    pub(crate) fn scrub(&mut self, ids: &[UserId]) {
        self.events
            .retain(|event| !(is_about(event, ids) && is_raw(event)));
        for event in &mut self.events {
            event.user_id = event.user_id.filter(|id| !ids.contains(id));
            event.target_id = event.target_id.filter(|id| !ids.contains(id));
            event.detail = event.detail.clone().without(ids);
        }
    }
}

fn is_about(event: &AuditEvent, ids: &[UserId]) -> bool {
    [event.user_id, event.target_id]
        .into_iter()
        .flatten()
        .any(|id| ids.contains(&id))
}

fn is_asked_for(event: &AuditEvent, query: &AuditQuery) -> bool {
    query.before.is_none_or(|before| event.id < before)
        && query.op.is_none_or(|op| event.detail.op() == op)
        && query.since.is_none_or(|since| event.created_at >= since)
        && query.until.is_none_or(|until| event.created_at < until)
}

fn is_raw(event: &AuditEvent) -> bool {
    matches!(event.detail, AuditDetail::ReadRaw(_))
}

#[async_trait]
impl Audit for InMemoryStore {
    async fn events(
        &self,
        tenant: &TenantId,
        query: &AuditQuery,
    ) -> Result<Vec<AuditEvent>, MemoryError> {
        self.read_tenant(tenant, |state, _| {
            let mut events: Vec<_> = state
                .trail
                .events
                .iter()
                .filter(|event| is_asked_for(event, query))
                .cloned()
                .collect();
            events.sort_by_key(|event| std::cmp::Reverse(event.id));
            events.truncate(usize::try_from(query.limit).unwrap_or(usize::MAX));
            events
        })
        .ok_or_else(|| MemoryError::UnknownTenant(tenant.clone()))
    }
}
