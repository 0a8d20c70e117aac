//! Forgetting one person in every capability, all or nothing, with a receipt.
//!
//! Belongs here: the [`Erasure`] trait, its receipt and errors, the [`catalogue`] that names every
//! store and what erasure does to it, the contract suite (feature `contract`). Does not belong here: a
//! store, HTTP, who may ask.

pub mod catalogue;
mod error;
mod receipt;

#[cfg(feature = "contract")]
pub mod contract;

use async_trait::async_trait;
use throughline_domain::{Actor, TenantId, UserId};

pub use error::ErasureError;
pub use receipt::{Counts, Mode, Outcome, Receipt, TOMBSTONE_LIFE};

/// Forgets people.
#[async_trait]
pub trait Erasure: Send + Sync {
    /// Erases the person behind this id, whichever of their ids it is (T-53), in one transaction: the
    /// fence first, so that an append in flight either lands before and is erased, or is refused as
    /// gone (D-05). Afterwards no id of theirs can be written to, their keys cannot be used again
    /// (T-57), and the tenant's erasure epoch is one higher.
    ///
    /// A second call finds nothing left, changes nothing and leaves no second audit entry (T-62). A
    /// rehearsal counts what a real run at that moment would, and changes nothing.
    async fn erase(
        &self,
        tenant: &TenantId,
        user: UserId,
        actor: &Actor,
        mode: Mode,
    ) -> Result<Receipt, ErasureError>;
}
