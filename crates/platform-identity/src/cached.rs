//! Look-ups answered from memory for a while.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use moka::future::Cache;
use throughline_domain::{Actor, MergeId, ReviewId, TenantId, Timestamp, UserId};

use crate::{
    ChannelUser, DecisionReason, IdentityError, MergeRecord, MergeSource, Merged, NormalizedEmail,
    PlatformIdentity, PlatformUserId, Resolved, Review, ReviewQuery, RevokedClaim, Undone, User,
    Verdict,
};

/// How long an answer may be old (D-20).
const LIFE: Duration = Duration::from_secs(30);
const ENTRIES: u64 = 100_000;

/// Remembers who stands behind a channel user, for [`lookup`](PlatformIdentity::lookup) alone.
///
/// Appends resolve, and resolving always asks the store: the fence decides, and its answer heals the
/// entry. A stale entry, of another process's merge or erasure too, can only delay: a merged id answers
/// with its survivor, a forgotten one with nobody.
pub struct Cached {
    inner: Arc<dyn PlatformIdentity>,
    known: Cache<(TenantId, PlatformUserId), UserId>,
}

impl Cached {
    /// In front of a store.
    pub fn new(inner: Arc<dyn PlatformIdentity>) -> Self {
        let known = Cache::builder()
            .max_capacity(ENTRIES)
            .time_to_live(LIFE)
            .build();
        Self { inner, known }
    }
}

#[async_trait]
impl PlatformIdentity for Cached {
    async fn resolve(
        &self,
        tenant: &TenantId,
        channel_user: &ChannelUser,
    ) -> Result<Resolved, IdentityError> {
        let resolved = self.inner.resolve(tenant, channel_user).await?;
        let key = (tenant.clone(), channel_user.id.clone());
        self.known.insert(key, resolved.user_id).await;
        Ok(resolved)
    }

    async fn resolve_said(
        &self,
        tenant: &TenantId,
        channel_user: &ChannelUser,
        said_at: Timestamp,
    ) -> Result<Resolved, IdentityError> {
        let resolved = self.inner.resolve_said(tenant, channel_user, said_at);
        let resolved = resolved.await?;
        let key = (tenant.clone(), channel_user.id.clone());
        self.known.insert(key, resolved.user_id).await;
        Ok(resolved)
    }

    /// Not remembered: the sweep that asks is not who reads.
    async fn resolve_queued(
        &self,
        tenant: &TenantId,
        channel_user: &ChannelUser,
        queued_at: Timestamp,
    ) -> Result<Resolved, IdentityError> {
        self.inner
            .resolve_queued(tenant, channel_user, queued_at)
            .await
    }

    async fn lookup(
        &self,
        tenant: &TenantId,
        id: &PlatformUserId,
    ) -> Result<Option<UserId>, IdentityError> {
        let key = (tenant.clone(), id.clone());
        if let Some(user) = self.known.get(&key).await {
            return Ok(Some(user));
        }
        let found = self.inner.lookup(tenant, id).await?;
        // Nobody is not remembered: the next message may make somebody.
        if let Some(user) = found {
            self.known.insert(key, user).await;
        }
        Ok(found)
    }

    async fn user(&self, tenant: &TenantId, user: UserId) -> Result<Option<User>, IdentityError> {
        self.inner.user(tenant, user).await
    }

    async fn merge(
        &self,
        tenant: &TenantId,
        primary: UserId,
        secondary: UserId,
        source: MergeSource,
        actor: &Actor,
    ) -> Result<Merged, IdentityError> {
        let merged = self
            .inner
            .merge(tenant, primary, secondary, source, actor)
            .await;
        self.known.invalidate_all();
        merged
    }

    async fn undo_merge(
        &self,
        tenant: &TenantId,
        merge: MergeId,
        actor: &Actor,
    ) -> Result<Undone, IdentityError> {
        let undone = self.inner.undo_merge(tenant, merge, actor).await;
        self.known.invalidate_all();
        undone
    }

    async fn merges(
        &self,
        tenant: &TenantId,
        user: UserId,
    ) -> Result<Vec<MergeRecord>, IdentityError> {
        self.inner.merges(tenant, user).await
    }

    async fn propose_merge(
        &self,
        tenant: &TenantId,
        primary: UserId,
        secondary: UserId,
        proposer: &Actor,
    ) -> Result<ReviewId, IdentityError> {
        self.inner
            .propose_merge(tenant, primary, secondary, proposer)
            .await
    }

    async fn reviews(
        &self,
        tenant: &TenantId,
        query: &ReviewQuery,
    ) -> Result<Vec<Review>, IdentityError> {
        self.inner.reviews(tenant, query).await
    }

    async fn decide_review(
        &self,
        tenant: &TenantId,
        review: ReviewId,
        verdict: Verdict,
        reason: &DecisionReason,
        actor: &Actor,
    ) -> Result<Review, IdentityError> {
        let decided = self
            .inner
            .decide_review(tenant, review, verdict, reason, actor)
            .await;
        self.known.invalidate_all();
        decided
    }

    async fn revoke_claim(
        &self,
        tenant: &TenantId,
        email: &NormalizedEmail,
        actor: &Actor,
    ) -> Result<RevokedClaim, IdentityError> {
        self.inner.revoke_claim(tenant, email, actor).await
    }
}
