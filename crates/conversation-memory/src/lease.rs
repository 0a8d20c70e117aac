//! Who of several replicas does a job for a tenant, and where a job goes on (D-04).

use std::time::Duration;

use async_trait::async_trait;
use throughline_domain::{TenantId, Timestamp};

use crate::MemoryError;

/// One run of one process; two are never equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaseOwner(pub u128);

/// A job's claim on a tenant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The job.
    pub job: &'static str,
    /// The tenant.
    pub tenant: TenantId,
    /// Who holds it.
    pub owner: LeaseOwner,
}

/// Claims that end by themselves, kept where all replicas see them.
#[async_trait]
pub trait Leases: Send + Sync {
    /// Takes the claim for `life`, unless somebody else holds it still.
    async fn acquire(&self, lease: &Lease, life: Duration) -> Result<bool, MemoryError>;

    /// Holds it for `life` from now; false when it was lost in between.
    async fn renew(&self, lease: &Lease, life: Duration) -> Result<bool, MemoryError>;

    /// Gives it back. With `finished`, now is when the job was last done for the tenant.
    async fn release(&self, lease: &Lease, finished: bool) -> Result<(), MemoryError>;

    /// When the job was last done for the tenant.
    async fn finished_at(
        &self,
        job: &'static str,
        tenant: &TenantId,
    ) -> Result<Option<Timestamp>, MemoryError>;

    /// The tenant that the job visited last, whichever replica it was.
    async fn cursor(&self, job: &'static str) -> Result<Option<TenantId>, MemoryError>;

    /// Remembers that tenant.
    async fn move_cursor(&self, job: &'static str, to: &TenantId) -> Result<(), MemoryError>;
}
