//! Which stable user stands behind a channel's user.
//!
//! Belongs here: the [`PlatformIdentity`] trait, its types and errors, the contract suite (feature
//! `contract`). Does not belong here: a store, turns, who is allowed to ask.

mod cached;
mod channel_user;
mod claim;
mod email;
mod error;
mod merge;
mod profile;
mod review;
mod user;

#[cfg(feature = "contract")]
pub mod contract;

use async_trait::async_trait;
use throughline_domain::{Actor, MergeId, ReviewId, TenantId, Timestamp, UserId};

pub use cached::Cached;
pub use channel_user::{ChannelUser, InvalidChannelUser, PlatformUserId};
pub use claim::{
    Claim, ClaimEffect, ClaimPolicy, ClaimState, FirstSight, LaterSight, RevokedClaim, first_sight,
    given_up, later_sight,
};
pub use email::{EMAIL_NORMALIZER_VERSION, NormalizedEmail};
pub use error::IdentityError;
pub use merge::{MergeRecord, MergeSource, Merged, Undone, claim_actor};
pub use profile::Profile;
pub use review::{
    Decision, DecisionReason, InvalidReason, Review, ReviewQuery, ReviewReason, ReviewState,
    Verdict,
};
pub use throughline_domain::{PlatformKind, UnknownKind};
pub use user::{ClaimSource, Identity, Resolved, User, UserStatus};

/// The capability `platformIdentity@1`.
#[async_trait]
pub trait PlatformIdentity: Send + Sync {
    /// The user behind a channel's user; a first sight makes one. Concurrent first sights of
    /// one channel user get one id, and exactly one of them sees `is_new`. A name, an e-mail
    /// or its verification that is given replaces the stored one; one that is absent leaves it
    /// (T-02). Another address given without a word on its verification is unverified: it does not
    /// inherit what was said of the old one. The user id of a channel user never changes by this call
    ///
    ///
    /// Where the tenant allows it, a first sight with a verified address joins the person who holds
    /// that address (D-06, D-07): a merge of its own, which can be undone like any other.
    async fn resolve(
        &self,
        tenant: &TenantId,
        channel_user: &ChannelUser,
    ) -> Result<Resolved, IdentityError>;

    /// The user behind a channel's user, for something they said at `said_at`, by the clock of whoever
    /// heard it. As [`resolve`](Self::resolve), and if the channel user was erased at that moment or
    /// later, the answer is [`IdentityError::Gone`] and nobody is made: words that waited with their
    /// channel must not come back as somebody new (T-37).
    async fn resolve_said(
        &self,
        tenant: &TenantId,
        channel_user: &ChannelUser,
        said_at: Timestamp,
    ) -> Result<Resolved, IdentityError>;

    /// The user behind a channel's user, for a message that came at `queued_at` and waited since. As
    /// [`resolve`](Self::resolve), but for two things. If the channel user was erased at that moment or
    /// later, the answer is [`IdentityError::Gone`], whether or not they have written again since: what
    /// they said before must not come back (T-37). And what the message says of somebody who is known
    /// is old news: it changes nothing.
    async fn resolve_queued(
        &self,
        tenant: &TenantId,
        channel_user: &ChannelUser,
        queued_at: Timestamp,
    ) -> Result<Resolved, IdentityError>;

    /// The user behind a channel's user, if it was ever seen. Changes nothing.
    async fn lookup(
        &self,
        tenant: &TenantId,
        id: &PlatformUserId,
    ) -> Result<Option<UserId>, IdentityError>;

    /// The user with every identity. A merged id answers with its survivor.
    async fn user(&self, tenant: &TenantId, user: UserId) -> Result<Option<User>, IdentityError>;

    /// Makes two people one: the primary's survivor answers for both. Everything kept by user moves in
    /// one transaction; the secondary's ids keep answering. Merged ids are taken for their survivors;
    /// two ids of one person are [`IdentityError::NoChange`] (T-50).
    async fn merge(
        &self,
        tenant: &TenantId,
        primary: UserId,
        secondary: UserId,
        source: MergeSource,
        actor: &Actor,
    ) -> Result<Merged, IdentityError>;

    /// Takes a merge back: the secondary is a person of their own again, with all that was merged into
    /// them before. Each turn goes to the person its account belongs to, whenever it came (D-16).
    /// Merges can be undone in any order; merges made since stay.
    async fn undo_merge(
        &self,
        tenant: &TenantId,
        merge: MergeId,
        actor: &Actor,
    ) -> Result<Undone, IdentityError>;

    /// Every merge, undone ones too, that made the person behind this id what they are, oldest first.
    async fn merges(
        &self,
        tenant: &TenantId,
        user: UserId,
    ) -> Result<Vec<MergeRecord>, IdentityError>;

    /// Asks an operator to merge. The same open proposal again gives the first one's id.
    async fn propose_merge(
        &self,
        tenant: &TenantId,
        primary: UserId,
        secondary: UserId,
        proposer: &Actor,
    ) -> Result<ReviewId, IdentityError>;

    /// Questions to an operator, oldest first.
    async fn reviews(
        &self,
        tenant: &TenantId,
        query: &ReviewQuery,
    ) -> Result<Vec<Review>, IdentityError>;

    /// Answers a question once. Accepting merges in the same transaction.
    async fn decide_review(
        &self,
        tenant: &TenantId,
        review: ReviewId,
        verdict: Verdict,
        reason: &DecisionReason,
        actor: &Actor,
    ) -> Result<Review, IdentityError>;

    /// Takes an address out of joining: it joins nobody from now on, whoever verifies it, its holder
    /// included, and each newcomer who does is a question to an operator (D-07 c). Who was joined by it
    /// before stays joined until that merge is undone. [`IdentityError::UnknownClaim`] for an address
    /// that nobody claims, [`IdentityError::NoChange`] for one that was revoked before.
    async fn revoke_claim(
        &self,
        tenant: &TenantId,
        email: &NormalizedEmail,
        actor: &Actor,
    ) -> Result<RevokedClaim, IdentityError>;
}
