//! Tenants that get a key when they are made, as an operator would give them one.

use std::sync::Arc;

use async_trait::async_trait;
use throughline_client::Keys;
use throughline_domain::{Actor, KeyId, TenantId};
use throughline_provider_in_memory::InMemoryStore;
use throughline_tenancy::{
    KeyRecord, MintedKey, NewKey, Principal, Scope, Tenancy, TenancyError, Tenant, TenantConfig,
    TenantStatus, Token,
};

pub(crate) struct Minting {
    pub(crate) store: Arc<InMemoryStore>,
    pub(crate) keys: Keys,
}

#[async_trait]
impl Tenancy for Minting {
    async fn create_tenant(
        &self,
        tenant: &TenantId,
        config: TenantConfig,
    ) -> Result<Tenant, TenancyError> {
        let made = self.store.create_tenant(tenant, config).await?;
        let key = NewKey {
            label: String::new(),
            scopes: Scope::ALL.into_iter().collect(),
        };
        let minted = self.store.mint_key(tenant, key).await?;
        let key = minted.token.reveal();
        self.keys.set(tenant.clone(), key).expect("a usable key");
        Ok(made)
    }

    async fn tenant(&self, tenant: &TenantId) -> Result<Option<Tenant>, TenancyError> {
        self.store.tenant(tenant).await
    }

    async fn tenants(
        &self,
        after: Option<&TenantId>,
        limit: u32,
    ) -> Result<Vec<Tenant>, TenancyError> {
        self.store.tenants(after, limit).await
    }

    async fn configure(
        &self,
        tenant: &TenantId,
        config: TenantConfig,
        expected_revision: Option<u64>,
    ) -> Result<Tenant, TenancyError> {
        self.store
            .configure(tenant, config, expected_revision)
            .await
    }

    async fn set_status(
        &self,
        tenant: &TenantId,
        status: TenantStatus,
    ) -> Result<Tenant, TenancyError> {
        self.store.set_status(tenant, status).await
    }

    async fn mint_key(&self, tenant: &TenantId, key: NewKey) -> Result<MintedKey, TenancyError> {
        self.store.mint_key(tenant, key).await
    }

    async fn keys(&self, tenant: &TenantId) -> Result<Vec<KeyRecord>, TenancyError> {
        self.store.keys(tenant).await
    }

    async fn revoke_key(&self, tenant: &TenantId, key: KeyId) -> Result<KeyRecord, TenancyError> {
        self.store.revoke_key(tenant, key).await
    }

    async fn mint_operator_key(
        &self,
        actor: &Actor,
        label: &str,
    ) -> Result<MintedKey, TenancyError> {
        self.store.mint_operator_key(actor, label).await
    }

    async fn operator_keys(&self) -> Result<Vec<KeyRecord>, TenancyError> {
        self.store.operator_keys().await
    }

    async fn revoke_operator_key(&self, key: KeyId) -> Result<KeyRecord, TenancyError> {
        self.store.revoke_operator_key(key).await
    }

    async fn authenticate(&self, token: &Token) -> Result<Option<Principal>, TenancyError> {
        self.store.authenticate(token).await
    }
}
