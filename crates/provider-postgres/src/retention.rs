//! Deleting by rule, on PostgreSQL. Each call is one statement, so one transaction by itself.

mod leases;
mod reconcile;
mod restamp;
mod sweep;

use std::time::Duration;

use async_trait::async_trait;
use throughline_conversation_memory::{
    Caps, Chunk, Load, MemoryError, OverCap, Pass, Reconciled, Restamp, Restamped, Retention,
    RetentionError, Swept,
};
use throughline_domain::{TenantId, Timestamp, UserId};
use tokio_postgres::Row;

use crate::error::{Meaning, StoreError};
use crate::statement::{ForOperator, ForTenant};
use crate::store::PostgresStore;

pub(crate) use sweep::BEYOND;

pub(crate) static FOR_TENANT: &[&ForTenant] = &[
    &sweep::ENDED,
    &sweep::BEYOND,
    &sweep::AUDIT,
    &sweep::TOMBSTONES,
    &sweep::PREVIEW,
    &sweep::OVER_CAP,
    &restamp::READ,
    &restamp::BEGIN,
    &restamp::RESTAMP,
    &restamp::ADVANCE,
    &restamp::BARRIER,
    &reconcile::LOOK,
    &reconcile::LOCK,
    &reconcile::MEND,
    &leases::ACQUIRE,
    &leases::RENEW,
    &leases::RELEASE,
    &leases::FINISHED_AT,
];

pub(crate) static FOR_OPERATOR: &[&ForOperator] =
    &[&sweep::OLDEST_ENDED, &leases::CURSOR, &leases::MOVE_CURSOR];

/// A counter that would fall below zero breaks a check: the only data error a sweep can meet.
fn failed(error: StoreError) -> RetentionError {
    match error.meaning() {
        Meaning::Data => RetentionError::Drifted,
        _ => RetentionError::Memory(error.memory()),
    }
}

/// Every statement says whether the tenant is there.
fn known(row: Option<&Row>, tenant: &TenantId) -> Result<(), RetentionError> {
    match row.map(|row| row.try_get("known")) {
        Some(Ok(true)) => Ok(()),
        _ => Err(MemoryError::UnknownTenant(tenant.clone()).into()),
    }
}

#[async_trait]
impl Retention for PostgresStore {
    async fn sweep(
        &self,
        tenant: &TenantId,
        pass: Pass,
        chunk: Chunk,
        tombstone_life: Duration,
    ) -> Result<Swept, RetentionError> {
        sweep::sweep(self, tenant, pass, chunk, tombstone_life).await
    }

    async fn preview(&self, tenant: &TenantId, pass: Pass) -> Result<Swept, RetentionError> {
        sweep::preview(self, tenant, pass).await
    }

    async fn over_cap(
        &self,
        tenant: &TenantId,
        caps: Caps,
        after: Option<UserId>,
    ) -> Result<OverCap, RetentionError> {
        sweep::over_cap(self, tenant, caps, after).await
    }

    async fn restamp(
        &self,
        tenant: &TenantId,
        rule: Restamp,
        chunk: Chunk,
    ) -> Result<Restamped, RetentionError> {
        restamp::restamp(self, tenant, rule, chunk).await
    }

    async fn reconcile(
        &self,
        tenant: &TenantId,
        after: Option<UserId>,
        users: u32,
    ) -> Result<Reconciled, RetentionError> {
        reconcile::reconcile(self, tenant, after, users).await
    }

    async fn oldest_ended(&self) -> Result<Option<Timestamp>, RetentionError> {
        sweep::oldest_ended(self).await
    }

    fn load(&self) -> Load {
        self.sessions.metrics.load()
    }
}
