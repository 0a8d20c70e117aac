//! [`PlatformIdentity`] over HTTP.

mod claim;
mod error;
mod merge;
mod review;
mod user;

use async_trait::async_trait;
use http::Method;
use throughline_domain::{Actor, MergeId, ReviewId, TenantId, Timestamp, UserId};
use throughline_platform_identity::{
    ChannelUser, DecisionReason, IdentityError, MergeRecord, MergeSource, Merged, NormalizedEmail,
    PlatformIdentity, PlatformUserId, Resolved, Review, ReviewQuery, RevokedClaim, Undone, User,
    Verdict,
};
use throughline_wire::{Code, LookupAnswer, ResolveAnswer, ResolveBody, paths};

use crate::call::{Call, Speaker};
use crate::client::Client;
use crate::query::Query;
use crate::retry::Failed;
use error::Subject;

/// Who acts is said by the key: the service writes the key's own actor down and takes no other, so an
/// `actor` given here is not sent.
#[async_trait]
impl PlatformIdentity for Client {
    /// Repeated when an answer was lost: a first sight may then be answered as one that is not new.
    async fn resolve(
        &self,
        tenant: &TenantId,
        channel_user: &ChannelUser,
    ) -> Result<Resolved, IdentityError> {
        resolve(self, tenant, channel_user, None).await
    }

    /// The moment goes in milliseconds, cut: what was said in the very millisecond after an erasure counts
    /// as said before it.
    async fn resolve_said(
        &self,
        tenant: &TenantId,
        channel_user: &ChannelUser,
        said_at: Timestamp,
    ) -> Result<Resolved, IdentityError> {
        resolve(self, tenant, channel_user, Some(said_at)).await
    }

    /// There is no route: what waits is drained beside the store, never through the service.
    async fn resolve_queued(
        &self,
        _: &TenantId,
        _: &ChannelUser,
        _: Timestamp,
    ) -> Result<Resolved, IdentityError> {
        let why = "queued appends are resolved by the service that drains them";
        Err(IdentityError::Unavailable(why.into()))
    }

    async fn lookup(
        &self,
        tenant: &TenantId,
        id: &PlatformUserId,
    ) -> Result<Option<UserId>, IdentityError> {
        let path = Query::of(paths::fill(paths::IDENTITIES, tenant, &[]))
            .with("kind", id.kind.as_str())
            .with("id", id.id());
        let call = Call::get(tenant, path.path());
        let found = async {
            match self.send(&call, self.deadline()).await {
                Ok(answer) => Ok(Some(answer.read::<LookupAnswer>()?.user_id)),
                Err(failed) if failed.error.code() == Some(Code::UnknownUser) => Ok(None),
                Err(failed) => Err(failed),
            }
        };
        found
            .await
            .map_err(|failed| error::of(failed, tenant, Subject::None))
    }

    async fn user(&self, tenant: &TenantId, user: UserId) -> Result<Option<User>, IdentityError> {
        let read = async {
            let answer = self.user_answer(tenant, user).await?;
            let user = answer.map(user::user).transpose();
            user.map_err(|fault| Failed::from(crate::ClientError::unreadable(200, fault)))
        };
        read.await
            .map_err(|failed| error::of(failed, tenant, Subject::User(user)))
    }

    /// Needs an operator's key: a tenant's would only propose, and is refused before anything is sent.
    async fn merge(
        &self,
        tenant: &TenantId,
        primary: UserId,
        secondary: UserId,
        source: MergeSource,
        _: &Actor,
    ) -> Result<Merged, IdentityError> {
        merge::merge(self, tenant, (primary, secondary), source).await
    }

    /// Needs an operator's key.
    async fn undo_merge(
        &self,
        tenant: &TenantId,
        merge: MergeId,
        _: &Actor,
    ) -> Result<Undone, IdentityError> {
        merge::undo(self, tenant, merge).await
    }

    /// Needs an operator's key.
    async fn merges(
        &self,
        tenant: &TenantId,
        user: UserId,
    ) -> Result<Vec<MergeRecord>, IdentityError> {
        merge::list(self, tenant, user).await
    }

    /// Needs a key of the tenant: an operator's would merge at once, and is refused before anything is
    /// sent.
    async fn propose_merge(
        &self,
        tenant: &TenantId,
        primary: UserId,
        secondary: UserId,
        _: &Actor,
    ) -> Result<ReviewId, IdentityError> {
        merge::propose(self, tenant, (primary, secondary)).await
    }

    /// Needs an operator's key.
    async fn reviews(
        &self,
        tenant: &TenantId,
        query: &ReviewQuery,
    ) -> Result<Vec<Review>, IdentityError> {
        review::list(self, tenant, query).await
    }

    /// Needs an operator's key.
    async fn decide_review(
        &self,
        tenant: &TenantId,
        review: ReviewId,
        verdict: Verdict,
        reason: &DecisionReason,
        _: &Actor,
    ) -> Result<Review, IdentityError> {
        review::decide(self, tenant, review, verdict, reason).await
    }

    /// Needs an operator's key.
    async fn revoke_claim(
        &self,
        tenant: &TenantId,
        email: &NormalizedEmail,
        _: &Actor,
    ) -> Result<RevokedClaim, IdentityError> {
        claim::revoke(self, tenant, email).await
    }
}

async fn resolve(
    client: &Client,
    tenant: &TenantId,
    channel_user: &ChannelUser,
    said_at: Option<Timestamp>,
) -> Result<Resolved, IdentityError> {
    let body = ResolveBody {
        r#ref: channel_user.to_author().into(),
        timestamp_ms: said_at.map(Timestamp::as_millis),
    };
    let call = Call::idempotent(tenant, paths::fill(paths::RESOLVE, tenant, &[]), &body);
    let resolved = async {
        let answer: ResolveAnswer = client.send(&call, client.deadline()).await?.read()?;
        Ok(Resolved {
            user_id: answer.user_id,
            account_id: answer.account_id,
            is_new: answer.is_new,
        })
    };
    resolved
        .await
        .map_err(|failed| error::of(failed, tenant, Subject::None))
}

/// A change that only an operator makes.
fn by_operator(tenant: &TenantId, method: Method, path: String) -> Call<'_> {
    Call::change(tenant, method, path).spoken_by(Speaker::Operator)
}
