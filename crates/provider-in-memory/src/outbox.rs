//! The outbox over the store. Nothing ever gets into it by itself here, for memory is never away
//! what is put in is a real queue all the same.

mod enqueue;
mod entries;
mod line;
mod settle;

use async_trait::async_trait;
use throughline_conversation_memory::{
    AuthorRef, DueTenants, Enqueued, Leased, Outbox, OutboxEntry, OutboxError, OutboxLease,
    OutboxQuery, OutboxSettlement, OutboxStats, QueuedAppend, Settled,
};
use throughline_domain::{OutboxId, TenantId, Timestamp, UserId, WorkerId};

use crate::InMemoryStore;

pub(crate) use line::Line;

fn unknown(tenant: &TenantId) -> OutboxError {
    OutboxError::UnknownTenant(tenant.clone())
}

impl InMemoryStore {
    fn line<T>(
        &self,
        tenant: &TenantId,
        change: impl FnOnce(&mut Line, Timestamp) -> T,
    ) -> Result<T, OutboxError> {
        self.write_tenant(tenant, |state, now| change(&mut state.outbox, now))
            .ok_or_else(|| unknown(tenant))
    }

    /// For calls that find nothing, and say so, where there is no tenant.
    fn line_or_nothing<T: Default>(
        &self,
        tenant: &TenantId,
        change: impl FnOnce(&mut Line, Timestamp) -> T,
    ) -> T {
        self.line(tenant, change).unwrap_or_default()
    }

    fn queue(
        &self,
        tenant: &TenantId,
        append: &QueuedAppend,
        buried: Option<&str>,
    ) -> Result<Enqueued, OutboxError> {
        self.line(tenant, |line, now| {
            let id = OutboxId::new(self.ids.ulid(now));
            enqueue::enqueue(line, id, append, buried, now)
        })?
    }
}

#[async_trait]
impl Outbox for InMemoryStore {
    async fn enqueue(
        &self,
        tenant: &TenantId,
        append: &QueuedAppend,
    ) -> Result<Enqueued, OutboxError> {
        self.queue(tenant, append, None)
    }

    async fn bury(
        &self,
        tenant: &TenantId,
        append: &QueuedAppend,
        reason: &str,
    ) -> Result<Enqueued, OutboxError> {
        self.queue(tenant, append, Some(reason))
    }

    async fn tenants(
        &self,
        due: DueTenants,
        after: Option<&TenantId>,
        limit: u32,
    ) -> Result<Vec<TenantId>, OutboxError> {
        Ok(self.read(|state, now| {
            let tenants = state.tenants.iter();
            tenants
                .filter(|(id, _)| after.is_none_or(|after| *id > after))
                .filter(|(_, tenant)| tenant.outbox.has(due, now))
                .map(|(id, _)| id.clone())
                .take(limit as usize)
                .collect()
        }))
    }

    async fn lease(
        &self,
        tenant: &TenantId,
        lease: OutboxLease,
    ) -> Result<Vec<Leased>, OutboxError> {
        Ok(self.line_or_nothing(tenant, |line, now| line.lease(lease, now)))
    }

    async fn settle(
        &self,
        tenant: &TenantId,
        worker: WorkerId,
        settlements: &[OutboxSettlement],
    ) -> Result<Settled, OutboxError> {
        Ok(self.line_or_nothing(tenant, |line, now| {
            settle::settle(line, worker, settlements, now)
        }))
    }

    async fn list(
        &self,
        tenant: &TenantId,
        query: OutboxQuery,
    ) -> Result<Vec<OutboxEntry>, OutboxError> {
        self.read_tenant(tenant, |state, _| entries::list(&state.outbox, query))
            .ok_or_else(|| unknown(tenant))
    }

    async fn requeue(
        &self,
        tenant: &TenantId,
        id: OutboxId,
    ) -> Result<Option<OutboxEntry>, OutboxError> {
        Ok(self.line_or_nothing(tenant, |line, now| entries::requeue(line, id, now)))
    }

    async fn discard(
        &self,
        tenant: &TenantId,
        id: OutboxId,
    ) -> Result<Option<OutboxEntry>, OutboxError> {
        Ok(self.line_or_nothing(tenant, |line, _| entries::discard(line, id)))
    }

    async fn expire(
        &self,
        tenant: &TenantId,
        died_before: Timestamp,
        limit: u32,
    ) -> Result<u64, OutboxError> {
        Ok(self.line_or_nothing(tenant, |line, _| {
            entries::expire(line, died_before, limit as usize)
        }))
    }

    async fn forget(
        &self,
        tenant: &TenantId,
        users: &[UserId],
        channel_users: &[AuthorRef],
    ) -> Result<u64, OutboxError> {
        Ok(self.line_or_nothing(tenant, |line, _| {
            line.remove_all(&line.of_people(users, channel_users))
        }))
    }

    async fn stats(&self) -> Result<OutboxStats, OutboxError> {
        Ok(self.read(|state, _| entries::stats(state.tenants.values().map(|t| &t.outbox))))
    }
}
