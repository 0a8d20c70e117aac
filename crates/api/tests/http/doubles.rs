//! Capabilities that fail on demand.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use async_trait::async_trait;
use throughline_conversation_memory::{
    AppendError, Appended, ChannelScope, ConversationMemory, Limit, MemoryError, NewTurn,
    RecentPage, RecentQuery, Turn, Usage,
};
use throughline_domain::{Actor, KeyId, TenantId, UserId};
use throughline_tenancy::{
    KeyRecord, MintedKey, NewKey, Principal, Tenancy, TenancyError, Tenant, TenantConfig,
    TenantStatus, Token,
};

/// A memory whose appends end as told, and whose reads may fail, panic or never end.
#[derive(Clone, Copy)]
pub(crate) enum Fault {
    Append(fn(&NewTurn) -> AppendError),
    Read(fn() -> MemoryError),
    Panic,
    Hang,
}

pub(crate) struct FaultyMemory(pub(crate) Fault);

impl FaultyMemory {
    async fn read(&self) -> MemoryError {
        match self.0 {
            Fault::Read(error) => error(),
            Fault::Panic => panic!("a panic that the test asked for"),
            Fault::Hang | Fault::Append(_) => std::future::pending().await,
        }
    }
}

#[async_trait]
impl ConversationMemory for FaultyMemory {
    async fn append_batch(
        &self,
        _: &TenantId,
        turns: Vec<NewTurn>,
    ) -> Vec<Result<Appended, AppendError>> {
        match self.0 {
            Fault::Append(error) => turns.into_iter().map(|turn| Err(error(&turn))).collect(),
            _ => std::future::pending().await,
        }
    }

    async fn recent(
        &self,
        _: &TenantId,
        _: UserId,
        _: &RecentQuery,
    ) -> Result<RecentPage, MemoryError> {
        Err(self.read().await)
    }

    async fn history(
        &self,
        _: &TenantId,
        _: &ChannelScope,
        _: Limit,
    ) -> Result<Vec<Turn>, MemoryError> {
        Err(self.read().await)
    }

    async fn clear(&self, _: &TenantId, _: &ChannelScope) -> Result<(), MemoryError> {
        Err(self.read().await)
    }

    async fn usage(&self, _: &TenantId, _: UserId) -> Result<Usage, MemoryError> {
        Err(self.read().await)
    }
}

/// Tenancy that counts how often it is asked and can be switched off.
pub(crate) struct SwitchedTenancy {
    pub(crate) inner: Arc<dyn Tenancy>,
    pub(crate) down: Arc<AtomicBool>,
    pub(crate) asked: Arc<AtomicU32>,
}

#[async_trait]
impl Tenancy for SwitchedTenancy {
    async fn authenticate(&self, token: &Token) -> Result<Option<Principal>, TenancyError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        if self.down.load(Ordering::SeqCst) {
            return Err(TenancyError::Unavailable(
                "the store is switched off".into(),
            ));
        }
        self.inner.authenticate(token).await
    }

    async fn create_tenant(&self, t: &TenantId, c: TenantConfig) -> Result<Tenant, TenancyError> {
        self.inner.create_tenant(t, c).await
    }

    async fn tenant(&self, t: &TenantId) -> Result<Option<Tenant>, TenancyError> {
        self.inner.tenant(t).await
    }

    async fn tenants(
        &self,
        after: Option<&TenantId>,
        limit: u32,
    ) -> Result<Vec<Tenant>, TenancyError> {
        self.inner.tenants(after, limit).await
    }

    async fn configure(
        &self,
        t: &TenantId,
        c: TenantConfig,
        revision: Option<u64>,
    ) -> Result<Tenant, TenancyError> {
        self.inner.configure(t, c, revision).await
    }

    async fn set_status(&self, t: &TenantId, status: TenantStatus) -> Result<Tenant, TenancyError> {
        self.inner.set_status(t, status).await
    }

    async fn mint_key(&self, t: &TenantId, key: NewKey) -> Result<MintedKey, TenancyError> {
        self.inner.mint_key(t, key).await
    }

    async fn keys(&self, t: &TenantId) -> Result<Vec<KeyRecord>, TenancyError> {
        self.inner.keys(t).await
    }

    async fn revoke_key(&self, t: &TenantId, key: KeyId) -> Result<KeyRecord, TenancyError> {
        self.inner.revoke_key(t, key).await
    }

    async fn mint_operator_key(
        &self,
        actor: &Actor,
        label: &str,
    ) -> Result<MintedKey, TenancyError> {
        self.inner.mint_operator_key(actor, label).await
    }

    async fn operator_keys(&self) -> Result<Vec<KeyRecord>, TenancyError> {
        self.inner.operator_keys().await
    }

    async fn revoke_operator_key(&self, key: KeyId) -> Result<KeyRecord, TenancyError> {
        self.inner.revoke_operator_key(key).await
    }
}
