//! `PlatformIdentity` on PostgreSQL.

mod back_fill;
mod claims;
mod first_sight;
mod known;
mod later_sight;
mod lookup;
mod merge;
mod merges;
pub(crate) mod people;
mod policy;
mod queued;
mod resolve;
mod review;
mod revoke_claim;
mod undo_merge;
mod user;

use async_trait::async_trait;
use throughline_domain::{Actor, MergeId, ReviewId, TenantId, Timestamp, UserId};
use throughline_platform_identity::{
    ChannelUser, DecisionReason, IdentityError, MergeRecord, MergeSource, Merged, NormalizedEmail,
    PlatformIdentity, PlatformUserId, Resolved, Review, ReviewQuery, RevokedClaim, Undone, User,
    Verdict,
};

pub(crate) use back_fill::back_fill;

use crate::statement::ForTenant;
use crate::store::PostgresStore;
use crate::transaction::Failed;

pub(crate) static FOR_TENANT: &[&ForTenant] = &[
    &known::SEEN,
    &known::TOUCH,
    &first_sight::FIRST_SIGHT,
    &policy::POLICY,
    &claims::FIND,
    &claims::LOCK,
    &claims::MAKE,
    &claims::SET,
    &claims::LAPSE,
    &back_fill::VERIFIED,
    &back_fill::FILL,
    &back_fill::HOLDERS,
    &people::ROOTS,
    &people::LOCK,
    &people::CHANNEL_USERS,
    &merge::MOVE_TURNS,
    &merge::MOVE_USERS,
    &merge::IDENTITIES,
    &merge::RECORD,
    &merges::MERGES,
    &undo_merge::FIND,
    &undo_merge::FOLLOWERS,
    &undo_merge::TURNS,
    &undo_merge::USERS,
    &undo_merge::RECORD,
    &review::RAISE,
    &review::PROPOSE,
    &review::LIST,
    &review::FIND,
    &review::DECIDE,
    &queued::ERASED,
    &lookup::LOOKUP,
    &user::USER,
];

/// The one place where an operation's failure becomes the capability's error.
fn told(failed: Failed<IdentityError>, tenant: &TenantId) -> IdentityError {
    match failed {
        Failed::Store(error) => error.identity(tenant),
        Failed::Refused(error) => error,
    }
}

#[async_trait]
impl PlatformIdentity for PostgresStore {
    async fn resolve(
        &self,
        tenant: &TenantId,
        channel_user: &ChannelUser,
    ) -> Result<Resolved, IdentityError> {
        let resolved = resolve::resolve(self, tenant, channel_user, None).await;
        resolved.map_err(|failed| told(failed, tenant))
    }

    async fn resolve_said(
        &self,
        tenant: &TenantId,
        channel_user: &ChannelUser,
        said_at: Timestamp,
    ) -> Result<Resolved, IdentityError> {
        let resolved = resolve::resolve(self, tenant, channel_user, Some(said_at)).await;
        resolved.map_err(|failed| told(failed, tenant))
    }

    async fn resolve_queued(
        &self,
        tenant: &TenantId,
        channel_user: &ChannelUser,
        queued_at: Timestamp,
    ) -> Result<Resolved, IdentityError> {
        let resolved = queued::resolve(self, tenant, channel_user, queued_at).await;
        resolved.map_err(|failed| told(failed, tenant))
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

    async fn merge(
        &self,
        tenant: &TenantId,
        primary: UserId,
        secondary: UserId,
        source: MergeSource,
        actor: &Actor,
    ) -> Result<Merged, IdentityError> {
        let merged = merge::merge(self, tenant, (primary, secondary), source, actor).await;
        merged.map_err(|failed| told(failed, tenant))
    }

    async fn undo_merge(
        &self,
        tenant: &TenantId,
        merge: MergeId,
        actor: &Actor,
    ) -> Result<Undone, IdentityError> {
        let undone = undo_merge::undo_merge(self, tenant, merge, actor).await;
        undone.map_err(|failed| told(failed, tenant))
    }

    async fn merges(
        &self,
        tenant: &TenantId,
        user: UserId,
    ) -> Result<Vec<MergeRecord>, IdentityError> {
        merges::merges(self, tenant, user).await
    }

    async fn propose_merge(
        &self,
        tenant: &TenantId,
        primary: UserId,
        secondary: UserId,
        proposer: &Actor,
    ) -> Result<ReviewId, IdentityError> {
        let asked = review::propose(self, tenant, (primary, secondary), proposer).await;
        asked.map_err(|failed| told(failed, tenant))
    }

    async fn reviews(
        &self,
        tenant: &TenantId,
        query: &ReviewQuery,
    ) -> Result<Vec<Review>, IdentityError> {
        review::list(self, tenant, query).await
    }

    async fn decide_review(
        &self,
        tenant: &TenantId,
        review: ReviewId,
        verdict: Verdict,
        reason: &DecisionReason,
        actor: &Actor,
    ) -> Result<Review, IdentityError> {
        let decided = review::decide(self, tenant, review, verdict, (reason, actor)).await;
        decided.map_err(|failed| told(failed, tenant))
    }

    async fn revoke_claim(
        &self,
        tenant: &TenantId,
        email: &NormalizedEmail,
        actor: &Actor,
    ) -> Result<RevokedClaim, IdentityError> {
        let revoked = revoke_claim::revoke_claim(self, tenant, email, actor).await;
        revoked.map_err(|failed| told(failed, tenant))
    }
}
