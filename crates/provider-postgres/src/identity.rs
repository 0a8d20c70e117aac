//! `PlatformIdentity` on PostgreSQL.

mod lookup;
mod resolve;
mod user;

use async_trait::async_trait;
use throughline_domain::{TenantId, UserId};
use throughline_platform_identity::{
    ChannelUser, IdentityError, PlatformIdentity, PlatformUserId, Resolved, User,
};

use crate::statement::ForTenant;
use crate::store::PostgresStore;

pub(crate) static FOR_TENANT: &[&ForTenant] = &[
    &resolve::SEEN,
    &resolve::FIRST_SIGHT,
    &resolve::TOUCH,
    &lookup::LOOKUP,
    &user::USER,
];

#[async_trait]
impl PlatformIdentity for PostgresStore {
    async fn resolve(
        &self,
        tenant: &TenantId,
        channel_user: &ChannelUser,
    ) -> Result<Resolved, IdentityError> {
        resolve::resolve(self, tenant, channel_user)
            .await
            .map_err(|error| error.identity(tenant))
    }

    async fn lookup(
        &self,
        tenant: &TenantId,
        id: &PlatformUserId,
    ) -> Result<Option<UserId>, IdentityError> {
        lookup::lookup(self, tenant, id).await
    }

    async fn user(&self, tenant: &TenantId, user: UserId) -> Result<Option<User>, IdentityError> {
        user::user(self, tenant, user).await
    }
}
