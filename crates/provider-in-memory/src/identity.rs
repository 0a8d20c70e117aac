//! Platform identity over the store.

mod back_fill;
mod merge;
mod resolve;
mod review;
mod revoke_claim;
mod user;

use async_trait::async_trait;
use throughline_domain::{Actor, MergeId, ReviewId, TenantId, Timestamp, UserId};
use throughline_platform_identity::{
    ChannelUser, DecisionReason, IdentityError, MergeRecord, MergeSource, Merged, NormalizedEmail,
    PlatformIdentity, PlatformUserId, Resolved, Review, ReviewQuery, RevokedClaim, Undone, User,
    Verdict,
};

pub(crate) use back_fill::back_fill;

use crate::InMemoryStore;
use crate::state::TenantState;
use merge::Act;

impl InMemoryStore {
    fn ask<T>(
        &self,
        tenant: &TenantId,
        look: impl FnOnce(&TenantState) -> T,
    ) -> Result<T, IdentityError> {
        self.read_tenant(tenant, |state, _| look(state))
            .ok_or_else(|| IdentityError::UnknownTenant(tenant.clone()))
    }

    fn tell<T>(
        &self,
        tenant: &TenantId,
        change: impl FnOnce(&mut TenantState, Timestamp) -> T,
    ) -> Result<T, IdentityError> {
        self.write_tenant(tenant, change)
            .ok_or_else(|| IdentityError::UnknownTenant(tenant.clone()))
    }

    fn act<'a>(&'a self, actor: &'a Actor, now: Timestamp) -> Act<'a> {
        Act {
            actor,
            ids: self.ids.as_ref(),
            now,
        }
    }
}

#[async_trait]
impl PlatformIdentity for InMemoryStore {
    async fn resolve(
        &self,
        tenant: &TenantId,
        channel_user: &ChannelUser,
    ) -> Result<Resolved, IdentityError> {
        self.tell(tenant, |state, now| {
            resolve::resolve(state, channel_user, self.ids.as_ref(), now)
        })
    }

    async fn resolve_said(
        &self,
        tenant: &TenantId,
        channel_user: &ChannelUser,
        said_at: Timestamp,
    ) -> Result<Resolved, IdentityError> {
        self.tell(tenant, |state, now| {
            resolve::resolve_said(state, channel_user, said_at, self.ids.as_ref(), now)
        })?
    }

    async fn resolve_queued(
        &self,
        tenant: &TenantId,
        channel_user: &ChannelUser,
        queued_at: Timestamp,
    ) -> Result<Resolved, IdentityError> {
        self.tell(tenant, |state, now| {
            resolve::resolve_queued(state, channel_user, queued_at, self.ids.as_ref(), now)
        })?
    }

    async fn lookup(
        &self,
        tenant: &TenantId,
        id: &PlatformUserId,
    ) -> Result<Option<UserId>, IdentityError> {
        self.ask(tenant, |state| {
            let known = state.people.identities.get(id)?;
            state.people.root(known.account)
        })
    }

    async fn user(&self, tenant: &TenantId, user: UserId) -> Result<Option<User>, IdentityError> {
        self.ask(tenant, |state| user::read(&state.people, user))
    }

    async fn merge(
        &self,
        tenant: &TenantId,
        primary: UserId,
        secondary: UserId,
        source: MergeSource,
        actor: &Actor,
    ) -> Result<Merged, IdentityError> {
        self.tell(tenant, |state, now| {
            merge::merge(state, primary, secondary, source, self.act(actor, now))
        })?
    }

    async fn undo_merge(
        &self,
        tenant: &TenantId,
        merge: MergeId,
        actor: &Actor,
    ) -> Result<Undone, IdentityError> {
        self.tell(tenant, |state, now| {
            merge::undo(state, merge, self.act(actor, now))
        })?
    }

    async fn merges(
        &self,
        tenant: &TenantId,
        user: UserId,
    ) -> Result<Vec<MergeRecord>, IdentityError> {
        self.ask(tenant, |state| merge::list(&state.people, user))?
    }

    async fn propose_merge(
        &self,
        tenant: &TenantId,
        primary: UserId,
        secondary: UserId,
        proposer: &Actor,
    ) -> Result<ReviewId, IdentityError> {
        self.tell(tenant, |state, now| {
            review::propose(
                &mut state.people,
                primary,
                secondary,
                self.act(proposer, now),
            )
        })?
    }

    async fn reviews(
        &self,
        tenant: &TenantId,
        query: &ReviewQuery,
    ) -> Result<Vec<Review>, IdentityError> {
        self.ask(tenant, |state| review::list(&state.people, query))
    }

    async fn decide_review(
        &self,
        tenant: &TenantId,
        review: ReviewId,
        verdict: Verdict,
        reason: &DecisionReason,
        actor: &Actor,
    ) -> Result<Review, IdentityError> {
        self.tell(tenant, |state, now| {
            review::decide(state, review, verdict, reason, self.act(actor, now))
        })?
    }

    async fn revoke_claim(
        &self,
        tenant: &TenantId,
        email: &NormalizedEmail,
        actor: &Actor,
    ) -> Result<RevokedClaim, IdentityError> {
        self.tell(tenant, |state, now| {
            revoke_claim::revoke_claim(state, email, self.act(actor, now))
        })?
    }
}
