//! `Tenancy` on PostgreSQL.

mod access_keys;
mod operator_keys;
mod tenants;

use async_trait::async_trait;
use throughline_domain::{Actor, KeyId, TenantId};
use throughline_tenancy::{
    KeyOwner, KeyRecord, MintedKey, NewKey, Principal, Tenancy, TenancyError, Tenant, TenantConfig,
    TenantStatus, Token,
};

use crate::statement::{ForOperator, ForTenant};
use crate::store::PostgresStore;

pub(crate) static FOR_TENANT: &[&ForTenant] = &[
    &tenants::CREATE,
    &tenants::READ,
    &tenants::CONFIGURE,
    &tenants::SET_STATUS,
    &access_keys::MINT,
    &access_keys::LIST,
    &access_keys::REVOKE,
    &access_keys::AUTHENTICATE,
];

pub(crate) static FOR_OPERATOR: &[&ForOperator] = &[
    &tenants::LIST,
    &operator_keys::MINT,
    &operator_keys::LIST,
    &operator_keys::REVOKE,
    &operator_keys::AUTHENTICATE,
];

#[async_trait]
impl Tenancy for PostgresStore {
    async fn create_tenant(
        &self,
        tenant: &TenantId,
        config: TenantConfig,
    ) -> Result<Tenant, TenancyError> {
        tenants::create(self, tenant, &config).await
    }

    async fn tenant(&self, tenant: &TenantId) -> Result<Option<Tenant>, TenancyError> {
        tenants::read(self, tenant).await
    }

    async fn tenants(
        &self,
        after: Option<&TenantId>,
        limit: u32,
    ) -> Result<Vec<Tenant>, TenancyError> {
        tenants::list(self, after, limit).await
    }

    async fn configure(
        &self,
        tenant: &TenantId,
        config: TenantConfig,
        expected_revision: Option<u64>,
    ) -> Result<Tenant, TenancyError> {
        tenants::configure(self, tenant, &config, expected_revision).await
    }

    async fn set_status(
        &self,
        tenant: &TenantId,
        status: TenantStatus,
    ) -> Result<Tenant, TenancyError> {
        tenants::set_status(self, tenant, status).await
    }

    async fn mint_key(&self, tenant: &TenantId, key: NewKey) -> Result<MintedKey, TenancyError> {
        access_keys::mint(self, tenant, key).await
    }

    async fn keys(&self, tenant: &TenantId) -> Result<Vec<KeyRecord>, TenancyError> {
        access_keys::list(self, tenant).await
    }

    async fn revoke_key(&self, tenant: &TenantId, key: KeyId) -> Result<KeyRecord, TenancyError> {
        access_keys::revoke(self, tenant, key).await
    }

    async fn mint_operator_key(
        &self,
        actor: &Actor,
        label: &str,
    ) -> Result<MintedKey, TenancyError> {
        operator_keys::mint(self, actor, label).await
    }

    async fn operator_keys(&self) -> Result<Vec<KeyRecord>, TenancyError> {
        operator_keys::list(self).await
    }

    async fn revoke_operator_key(&self, key: KeyId) -> Result<KeyRecord, TenancyError> {
        operator_keys::revoke(self, key).await
    }

    async fn authenticate(&self, token: &Token) -> Result<Option<Principal>, TenancyError> {
        match token.claims() {
            Some((KeyOwner::Tenant(tenant), key)) => {
                access_keys::authenticate(self, tenant, key, token).await
            }
            Some((KeyOwner::Operator, key)) => operator_keys::authenticate(self, key, token).await,
            None => Ok(None),
        }
    }
}
