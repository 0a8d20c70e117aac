//! Platform identity over the store.

mod resolve;
mod user;

use async_trait::async_trait;
use throughline_domain::{TenantId, UserId};
use throughline_platform_identity::{
    ChannelUser, IdentityError, PlatformIdentity, PlatformUserId, Resolved, User,
};

use crate::InMemoryStore;

#[async_trait]
impl PlatformIdentity for InMemoryStore {
    async fn resolve(
        &self,
        tenant: &TenantId,
        channel_user: &ChannelUser,
    ) -> Result<Resolved, IdentityError> {
        self.write_tenant(tenant, |state, now| {
            resolve::resolve(&mut state.people, channel_user, self.ids.as_ref(), now)
        })
        .ok_or_else(|| IdentityError::UnknownTenant(tenant.clone()))
    }

    async fn lookup(
        &self,
        tenant: &TenantId,
        id: &PlatformUserId,
    ) -> Result<Option<UserId>, IdentityError> {
        self.read_tenant(tenant, |state, _| {
            state.people.identities.get(id).map(|known| known.user)
        })
        .ok_or_else(|| IdentityError::UnknownTenant(tenant.clone()))
    }

    async fn user(&self, tenant: &TenantId, user: UserId) -> Result<Option<User>, IdentityError> {
        self.read_tenant(tenant, |state, _| user::read(&state.people, user))
            .ok_or_else(|| IdentityError::UnknownTenant(tenant.clone()))
    }
}
