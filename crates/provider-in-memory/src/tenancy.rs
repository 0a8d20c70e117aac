//! Tenancy over the store.

mod authenticate;
mod keys;
mod tenants;

use async_trait::async_trait;
use throughline_domain::{Actor, KeyId, TenantId};
use throughline_tenancy::{
    KeyOwner, KeyRecord, MintedKey, NewKey, Principal, Scopes, Tenancy, TenancyError, Tenant,
    TenantConfig, TenantStatus, Token,
};

use crate::InMemoryStore;
use crate::identity::back_fill;

fn unknown(tenant: &TenantId) -> TenancyError {
    TenancyError::UnknownTenant(tenant.clone())
}

#[async_trait]
impl Tenancy for InMemoryStore {
    async fn create_tenant(
        &self,
        tenant: &TenantId,
        config: TenantConfig,
    ) -> Result<Tenant, TenancyError> {
        config.validate()?;
        self.write(|state, now| tenants::create(state, tenant, config, now))
    }

    async fn tenant(&self, tenant: &TenantId) -> Result<Option<Tenant>, TenancyError> {
        Ok(self.read_tenant(tenant, |state, _| state.tenant.clone()))
    }

    async fn tenants(
        &self,
        after: Option<&TenantId>,
        limit: u32,
    ) -> Result<Vec<Tenant>, TenancyError> {
        Ok(self.read(|state, _| tenants::list(state, after, limit)))
    }

    async fn configure(
        &self,
        tenant: &TenantId,
        config: TenantConfig,
        expected_revision: Option<u64>,
    ) -> Result<Tenant, TenancyError> {
        config.validate()?;
        self.write_tenant(tenant, |state, now| {
            let before = state.tenant.config.clone();
            let changed = tenants::configure(&mut state.tenant, config, expected_revision)?;
            if changed.config.claims_more_than(&before) {
                back_fill(state, self.ids.as_ref(), now);
            }
            Ok(changed)
        })
        .unwrap_or_else(|| Err(unknown(tenant)))
    }

    async fn set_status(
        &self,
        tenant: &TenantId,
        status: TenantStatus,
    ) -> Result<Tenant, TenancyError> {
        self.write_tenant(tenant, |state, _| {
            state.tenant.status = status;
            state.tenant.clone()
        })
        .ok_or_else(|| unknown(tenant))
    }

    async fn mint_key(&self, tenant: &TenantId, key: NewKey) -> Result<MintedKey, TenancyError> {
        let owner = KeyOwner::Tenant(tenant.clone());
        self.write_tenant(tenant, |state, now| {
            let record = keys::record(self.ids.as_ref(), key.label, key.scopes, None, now);
            state.keys.mint(&owner, record, &self.ids.secret())
        })
        .ok_or_else(|| unknown(tenant))
    }

    async fn keys(&self, tenant: &TenantId) -> Result<Vec<KeyRecord>, TenancyError> {
        self.read_tenant(tenant, |state, _| state.keys.records.clone())
            .ok_or_else(|| unknown(tenant))
    }

    async fn revoke_key(&self, tenant: &TenantId, key: KeyId) -> Result<KeyRecord, TenancyError> {
        self.write_tenant(tenant, |state, now| state.keys.revoke(key, now))
            .unwrap_or_else(|| Err(unknown(tenant)))
    }

    async fn mint_operator_key(
        &self,
        actor: &Actor,
        label: &str,
    ) -> Result<MintedKey, TenancyError> {
        Ok(self.write(|state, now| {
            let (label, actor) = (label.to_owned(), Some(actor.clone()));
            let record = keys::record(self.ids.as_ref(), label, Scopes::default(), actor, now);
            let secret = self.ids.secret();
            state
                .operator_keys
                .mint(&KeyOwner::Operator, record, &secret)
        }))
    }

    async fn operator_keys(&self) -> Result<Vec<KeyRecord>, TenancyError> {
        Ok(self.read(|state, _| state.operator_keys.records.clone()))
    }

    async fn revoke_operator_key(&self, key: KeyId) -> Result<KeyRecord, TenancyError> {
        self.write(|state, now| state.operator_keys.revoke(key, now))
    }

    async fn authenticate(&self, token: &Token) -> Result<Option<Principal>, TenancyError> {
        // Hashed outside the lock: a caller may send a long text.
        let hash = *token.hash().as_bytes();
        let claims = token.claims();
        Ok(self.read(|state, _| authenticate::holder(state, &hash, claims)))
    }
}
