//! Which stable user stands behind a channel's user.
//!
//! Belongs here: the [`PlatformIdentity`] trait, its types and errors, the contract suite (feature
//! `contract`). Does not belong here: a store, turns, who is allowed to ask.

mod channel_user;
mod error;
mod user;

#[cfg(feature = "contract")]
pub mod contract;

use async_trait::async_trait;
use throughline_domain::{TenantId, UserId};

pub use channel_user::{
    ChannelUser, InvalidChannelUser, PlatformKind, PlatformUserId, UnknownKind,
};
pub use error::IdentityError;
pub use user::{ClaimSource, Identity, Resolved, User, UserStatus};

/// The capability `platformIdentity@1`.
#[async_trait]
pub trait PlatformIdentity: Send + Sync {
    /// The user behind a channel's user; a first sight makes one. Concurrent first sights of
    /// one channel user get one id, and exactly one of them sees `is_new`. A name, an e-mail
    /// or its verification that is given replaces the stored one; one that is absent leaves it
    /// (T-02). Another address given without a word on its verification is unverified: it does not
    /// inherit what was said of the old one. The user id never changes by this call.
    async fn resolve(
        &self,
        tenant: &TenantId,
        channel_user: &ChannelUser,
    ) -> Result<Resolved, IdentityError>;

    /// The user behind a channel's user, if it was ever seen. Changes nothing.
    async fn lookup(
        &self,
        tenant: &TenantId,
        id: &PlatformUserId,
    ) -> Result<Option<UserId>, IdentityError>;

    /// The user with every identity. A merged id answers with its survivor.
    async fn user(&self, tenant: &TenantId, user: UserId) -> Result<Option<User>, IdentityError>;
}
