//! Claims of jobs on tenants: one row each, taken by comparing and setting (D-04).

use std::time::Duration;

use async_trait::async_trait;
use throughline_conversation_memory::{Lease, Leases, MemoryError};
use throughline_domain::{TenantId, Timestamp};
use tokio_postgres::types::Type;

use crate::error::{Meaning, StoreError};
use crate::row::uuid;
use crate::statement::{ForOperator, ForTenant, Statement};
use crate::store::PostgresStore;

pub(super) static ACQUIRE: ForTenant = ForTenant(Statement {
    name: "lease_acquire",
    sql: "-- lease_acquire\n\
          insert into job_leases (tenant_id, job, owner, until)\n\
          values ($1, $2, $3, $4)\n\
          on conflict (tenant_id, job) do update\n\
          set owner = excluded.owner, until = excluded.until\n\
          where job_leases.until <= $5\n\
          or job_leases.owner = excluded.owner\n\
          returning owner",
    params: &[
        Type::TEXT,
        Type::TEXT,
        Type::UUID,
        Type::TIMESTAMPTZ,
        Type::TIMESTAMPTZ,
    ],
});

pub(super) static RENEW: ForTenant = ForTenant(Statement {
    name: "lease_renew",
    sql: "-- lease_renew\n\
          update job_leases\n\
          set until = $4\n\
          where tenant_id = $1\n\
          and job = $2\n\
          and owner = $3\n\
          and until > $5\n\
          returning owner",
    params: &[
        Type::TEXT,
        Type::TEXT,
        Type::UUID,
        Type::TIMESTAMPTZ,
        Type::TIMESTAMPTZ,
    ],
});

pub(super) static RELEASE: ForTenant = ForTenant(Statement {
    name: "lease_release",
    sql: "-- lease_release\n\
          update job_leases\n\
          set until = $4,\n\
          finished_at = case when $5 then $4 else finished_at end\n\
          where tenant_id = $1\n\
          and job = $2\n\
          and owner = $3",
    params: &[
        Type::TEXT,
        Type::TEXT,
        Type::UUID,
        Type::TIMESTAMPTZ,
        Type::BOOL,
    ],
});

pub(super) static FINISHED_AT: ForTenant = ForTenant(Statement {
    name: "lease_finished_at",
    sql: "-- lease_finished_at\n\
          select finished_at\n\
          from job_leases\n\
          where tenant_id = $1\n\
          and job = $2",
    params: &[Type::TEXT, Type::TEXT],
});

pub(super) static CURSOR: ForOperator = ForOperator(Statement {
    name: "job_cursor",
    sql: "-- job_cursor\n\
          select last_tenant\n\
          from job_cursors\n\
          where job = $1",
    params: &[Type::TEXT],
});

pub(super) static MOVE_CURSOR: ForOperator = ForOperator(Statement {
    name: "job_move_cursor",
    sql: "-- job_move_cursor\n\
          insert into job_cursors (job, last_tenant)\n\
          values ($1, $2)\n\
          on conflict (job) do update\n\
          set last_tenant = excluded.last_tenant",
    params: &[Type::TEXT, Type::TEXT],
});

#[async_trait]
impl Leases for PostgresStore {
    async fn acquire(&self, lease: &Lease, life: Duration) -> Result<bool, MemoryError> {
        let now = self.clock.now();
        let (at, until) = (now.to_system_time(), now.plus(life).to_system_time());
        let owner = uuid(lease.owner.0);
        let params: &[crate::session::Param<'_>] = &[&lease.job, &owner, &until, &at];
        let rows = self.sessions.query(&lease.tenant, &ACQUIRE, params).await;
        let rows = rows.map_err(|error| match error.meaning() {
            Meaning::MissingReference => MemoryError::UnknownTenant(lease.tenant.clone()),
            _ => error.memory(),
        })?;
        Ok(!rows.is_empty())
    }

    async fn renew(&self, lease: &Lease, life: Duration) -> Result<bool, MemoryError> {
        let now = self.clock.now();
        let (at, until) = (now.to_system_time(), now.plus(life).to_system_time());
        let owner = uuid(lease.owner.0);
        let params: &[crate::session::Param<'_>] = &[&lease.job, &owner, &until, &at];
        let rows = self.sessions.query(&lease.tenant, &RENEW, params).await;
        Ok(!rows.map_err(StoreError::memory)?.is_empty())
    }

    async fn release(&self, lease: &Lease, finished: bool) -> Result<(), MemoryError> {
        let now = self.clock.now().to_system_time();
        let owner = uuid(lease.owner.0);
        let params: &[crate::session::Param<'_>] = &[&lease.job, &owner, &now, &finished];
        let done = self.sessions.query(&lease.tenant, &RELEASE, params).await;
        done.map(|_| ()).map_err(StoreError::memory)
    }

    async fn finished_at(
        &self,
        job: &'static str,
        tenant: &TenantId,
    ) -> Result<Option<Timestamp>, MemoryError> {
        let rows = self.sessions.query(tenant, &FINISHED_AT, &[&job]).await;
        let rows = rows.map_err(StoreError::memory)?;
        let at = rows.first().and_then(|row| row.try_get("finished_at").ok());
        Ok(at.map(Timestamp::from_system_time))
    }

    async fn cursor(&self, job: &'static str) -> Result<Option<TenantId>, MemoryError> {
        let rows = self.sessions.query_as_operator(&CURSOR, &[&job]).await;
        let rows = rows.map_err(StoreError::memory)?;
        // A name that cannot be read is no place to go on from: begin at the first.
        Ok(rows
            .first()
            .and_then(|row| row.try_get::<_, &str>("last_tenant").ok())
            .and_then(|name| TenantId::parse(name).ok()))
    }

    async fn move_cursor(&self, job: &'static str, to: &TenantId) -> Result<(), MemoryError> {
        let to = to.as_str();
        let done = self
            .sessions
            .query_as_operator(&MOVE_CURSOR, &[&job, &to])
            .await;
        done.map(|_| ()).map_err(StoreError::memory)
    }
}
