//! Who may call, for whom, and with which scopes: tenants with their configuration, and access keys.
//!
//! Belongs here: the [`Tenancy`] trait, its types and errors, the shape of a key, the contract suite
//! (feature `contract`). Does not belong here: a store, HTTP, what a scope lets one do.

mod config;
mod cron;
mod error;
mod key;
mod principal;
mod tenant;
mod token;

#[cfg(feature = "contract")]
pub mod contract;

use async_trait::async_trait;
use throughline_domain::{Actor, KeyId, TenantId};

pub use config::{InvalidConfig, MAX_TURN_BYTES, MaskLook, RedactionMode, TenantConfig};
pub use cron::{Cron, InvalidCron};
pub use error::TenancyError;
pub use key::{KeyRecord, MintedKey, NewKey};
pub use principal::{Principal, Scope, Scopes, UnknownScope};
pub use tenant::{Tenant, TenantStatus};
pub use token::{KeyHash, KeyOwner, Token};

/// Tenants and keys. Every method is atomic; none is retried by its provider.
#[async_trait]
pub trait Tenancy: Send + Sync {
    /// Makes a tenant, active, with this configuration at revision 1.
    async fn create_tenant(
        &self,
        tenant: &TenantId,
        config: TenantConfig,
    ) -> Result<Tenant, TenancyError>;

    /// The tenant, if there is one.
    async fn tenant(&self, tenant: &TenantId) -> Result<Option<Tenant>, TenancyError>;

    /// Up to `limit` tenants in name order, those after `after` only.
    async fn tenants(
        &self,
        after: Option<&TenantId>,
        limit: u32,
    ) -> Result<Vec<Tenant>, TenancyError>;

    /// Replaces the configuration and raises its revision by one. With `expected_revision` set, only
    /// if that is the current one.
    async fn configure(
        &self,
        tenant: &TenantId,
        config: TenantConfig,
        expected_revision: Option<u64>,
    ) -> Result<Tenant, TenancyError>;

    /// Suspends or resumes. A suspended tenant's keys keep existing and are refused.
    async fn set_status(
        &self,
        tenant: &TenantId,
        status: TenantStatus,
    ) -> Result<Tenant, TenancyError>;

    /// Makes a key of the tenant. The token is in the answer and nowhere else.
    async fn mint_key(&self, tenant: &TenantId, key: NewKey) -> Result<MintedKey, TenancyError>;

    /// The tenant's keys, oldest first, the revoked ones too; never a token or its hash.
    async fn keys(&self, tenant: &TenantId) -> Result<Vec<KeyRecord>, TenancyError>;

    /// Revokes a key of the tenant. Revoking it again changes nothing.
    async fn revoke_key(&self, tenant: &TenantId, key: KeyId) -> Result<KeyRecord, TenancyError>;

    /// Makes an operator's key.
    async fn mint_operator_key(
        &self,
        actor: &Actor,
        label: &str,
    ) -> Result<MintedKey, TenancyError>;

    /// All operators' keys, oldest first, the revoked ones too.
    async fn operator_keys(&self) -> Result<Vec<KeyRecord>, TenancyError>;

    /// Revokes an operator's key. Revoking it again changes nothing.
    async fn revoke_operator_key(&self, key: KeyId) -> Result<KeyRecord, TenancyError>;

    /// Who holds this token; `None` for one that was never minted or is revoked. The answer is the
    /// store's own, never cached.
    async fn authenticate(&self, token: &Token) -> Result<Option<Principal>, TenancyError>;
}
