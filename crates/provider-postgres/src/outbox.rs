//! `Outbox` on PostgreSQL: one table, leases by row.

mod enqueue;
mod entries;
mod forget;
mod lease;
mod settle;
mod stats;
mod tenants;

use async_trait::async_trait;
use throughline_conversation_memory::{
    AuthorRef, Cause, DueTenants, Enqueued, Leased, Outbox, OutboxEntry, OutboxError, OutboxLease,
    OutboxQuery, OutboxSettlement, OutboxStats, QueuedAppend, Settled,
};
use throughline_domain::{OutboxId, TenantId, Timestamp, UserId, WorkerId};

use crate::error::{Meaning, StoreError};
use crate::statement::{ForOperator, ForTenant};
use crate::store::PostgresStore;

pub(crate) static FOR_TENANT: &[&ForTenant] = &[
    &enqueue::ENQUEUE,
    &enqueue::FIND,
    &lease::LEASE,
    &settle::SETTLE,
    &entries::LIST,
    &entries::REQUEUE,
    &entries::DISCARD,
    &forget::EXPIRE,
    &forget::FORGET,
];

pub(crate) static FOR_OPERATOR: &[&ForOperator] = &[&tenants::DUE, &tenants::DEAD, &stats::STATS];

const TABLE: &str = "ccm_outbox";

#[async_trait]
impl Outbox for PostgresStore {
    async fn enqueue(
        &self,
        tenant: &TenantId,
        append: &QueuedAppend,
    ) -> Result<Enqueued, OutboxError> {
        enqueue::enqueue(self, tenant, append, None).await
    }

    async fn bury(
        &self,
        tenant: &TenantId,
        append: &QueuedAppend,
        reason: &str,
    ) -> Result<Enqueued, OutboxError> {
        enqueue::enqueue(self, tenant, append, Some(reason)).await
    }

    async fn tenants(
        &self,
        due: DueTenants,
        after: Option<&TenantId>,
        limit: u32,
    ) -> Result<Vec<TenantId>, OutboxError> {
        tenants::tenants(self, due, after, limit).await
    }

    async fn lease(
        &self,
        tenant: &TenantId,
        lease: OutboxLease,
    ) -> Result<Vec<Leased>, OutboxError> {
        lease::lease(self, tenant, lease).await
    }

    async fn settle(
        &self,
        tenant: &TenantId,
        worker: WorkerId,
        settlements: &[OutboxSettlement],
    ) -> Result<Settled, OutboxError> {
        settle::settle(self, tenant, worker, settlements).await
    }

    async fn list(
        &self,
        tenant: &TenantId,
        query: OutboxQuery,
    ) -> Result<Vec<OutboxEntry>, OutboxError> {
        entries::list(self, tenant, query).await
    }

    async fn requeue(
        &self,
        tenant: &TenantId,
        id: OutboxId,
    ) -> Result<Option<OutboxEntry>, OutboxError> {
        entries::requeue(self, tenant, id).await
    }

    async fn discard(
        &self,
        tenant: &TenantId,
        id: OutboxId,
    ) -> Result<Option<OutboxEntry>, OutboxError> {
        entries::discard(self, tenant, id).await
    }

    async fn expire(
        &self,
        tenant: &TenantId,
        died_before: Timestamp,
        limit: u32,
    ) -> Result<u64, OutboxError> {
        forget::expire(self, tenant, died_before, limit).await
    }

    async fn forget(
        &self,
        tenant: &TenantId,
        users: &[UserId],
        channel_users: &[AuthorRef],
    ) -> Result<u64, OutboxError> {
        forget::forget(self, tenant, users, channel_users).await
    }

    async fn stats(&self) -> Result<OutboxStats, OutboxError> {
        stats::stats(self).await
    }
}

fn refused(error: StoreError, tenant: &TenantId) -> OutboxError {
    match error {
        StoreError::Corrupt { table, column, row } => OutboxError::Corrupt { table, column, row },
        error if error.meaning() == Meaning::MissingReference => {
            OutboxError::UnknownTenant(tenant.clone())
        }
        error => OutboxError::Unavailable(Cause::new(error)),
    }
}
