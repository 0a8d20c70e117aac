//! Who calls: the only way to a capability.
//!
//! [`crate::gate`] makes these values after it checked the route's access; a handler that asks for one
//! on a route that does not grant it gets an internal error, never a capability.

use std::sync::Arc;

use axum::extract::{FromRequestParts, OptionalFromRequestParts};
use axum::http::request::Parts;
use throughline_conversation_memory::{
    AppendError, Appended, Audit, ChannelScope, Limit, MemoryError, NewTurn, NotKept, Outbox,
    QueuedAppend, ReadVersion, RecentPage, RecentQuery, Turn, Usage,
};
use throughline_domain::{
    Actor, Clock, Ids, KeyId, MergeId, ReviewId, TenantId, Timestamp, UserId,
};
use throughline_erasure::{Erasure, ErasureError, Mode, Receipt};
use throughline_platform_identity::{
    ChannelUser, IdentityError, MergeRecord, MergeSource, Merged, PlatformIdentity, PlatformUserId,
    Resolved, Undone, User,
};
use throughline_tenancy::Tenancy;

use crate::authenticator::Authenticator;
use crate::epoch::Epochs;
use crate::failure::Failure;
use crate::{Capabilities, JobControl};

/// Both capabilities, bound to the tenant that the credential proved.
#[derive(Clone)]
pub(crate) struct Tenant {
    id: TenantId,
    describes_people: bool,
    key: Option<KeyId>,
    epoch: Option<u64>,
    capabilities: Arc<Capabilities>,
}

impl Tenant {
    /// `key` is the tenant's key that calls; an operator has none of the tenant's. `epoch` was read
    /// before anything else is.
    pub(crate) fn new(
        id: TenantId,
        describes_people: bool,
        key: Option<KeyId>,
        epoch: Option<u64>,
        to: Arc<Capabilities>,
    ) -> Self {
        Self {
            id,
            describes_people,
            key,
            epoch,
            capabilities: to,
        }
    }

    pub(crate) fn id(&self) -> &TenantId {
        &self.id
    }

    /// Whether the key may change what is known of a person (`identity:resolve`); a key that only
    /// appends may name a channel user, not describe them.
    pub(crate) fn describes_people(&self) -> bool {
        self.describes_people
    }

    /// The tenant's key that calls; `None` for an operator.
    pub(crate) fn key(&self) -> Option<KeyId> {
        self.key
    }

    /// The tenant's erasure epoch; `None` when it could not be read.
    pub(crate) fn epoch(&self) -> Option<u64> {
        self.epoch
    }

    pub(crate) fn clock(&self) -> &dyn Clock {
        &*self.capabilities.clock
    }

    pub(crate) fn ids(&self) -> &dyn Ids {
        &*self.capabilities.ids
    }

    /// `said_at` for words with a date: those of before an erasure make nobody (T-37).
    pub(crate) async fn resolve(
        &self,
        user: &ChannelUser,
        said_at: Option<Timestamp>,
    ) -> Result<Resolved, IdentityError> {
        let identity = &self.capabilities.identity;
        match said_at {
            Some(said_at) => identity.resolve_said(&self.id, user, said_at).await,
            None => identity.resolve(&self.id, user).await,
        }
    }

    /// Asks an operator to merge, in the key's name.
    pub(crate) async fn propose_merge(
        &self,
        primary: UserId,
        secondary: UserId,
        key: KeyId,
    ) -> Result<ReviewId, IdentityError> {
        let proposer = Actor::parse(&format!("key {key}")).expect("a key's id is a plain name");
        let identity = &self.capabilities.identity;
        identity
            .propose_merge(&self.id, primary, secondary, &proposer)
            .await
    }

    pub(crate) async fn lookup(
        &self,
        id: &PlatformUserId,
    ) -> Result<Option<UserId>, IdentityError> {
        self.capabilities.identity.lookup(&self.id, id).await
    }

    pub(crate) async fn user(&self, user: UserId) -> Result<Option<User>, IdentityError> {
        self.capabilities.identity.user(&self.id, user).await
    }

    pub(crate) async fn append(&self, turn: NewTurn) -> Result<Appended, AppendError> {
        self.capabilities.memory.append(&self.id, turn).await
    }

    pub(crate) async fn append_batch(
        &self,
        turns: Vec<NewTurn>,
    ) -> Vec<Result<Appended, AppendError>> {
        self.capabilities.memory.append_batch(&self.id, turns).await
    }

    pub(crate) async fn keep(&self, appends: Vec<QueuedAppend>) -> Vec<Result<(), NotKept>> {
        self.capabilities.queue.keep(&self.id, appends).await
    }

    pub(crate) async fn recent(
        &self,
        user: UserId,
        query: &RecentQuery,
    ) -> Result<RecentPage, MemoryError> {
        self.capabilities.memory.recent(&self.id, user, query).await
    }

    pub(crate) async fn read_version(
        &self,
        user: UserId,
    ) -> Result<Option<ReadVersion>, MemoryError> {
        let memory = &self.capabilities.memory;
        memory.read_version(&self.id, user).await
    }

    pub(crate) async fn history(
        &self,
        scope: &ChannelScope,
        limit: Limit,
    ) -> Result<Vec<Turn>, MemoryError> {
        self.capabilities
            .memory
            .history(&self.id, scope, limit)
            .await
    }

    pub(crate) async fn clear(&self, scope: &ChannelScope) -> Result<(), MemoryError> {
        self.capabilities.memory.clear(&self.id, scope).await
    }

    pub(crate) async fn usage(&self, user: UserId) -> Result<Usage, MemoryError> {
        self.capabilities.memory.usage(&self.id, user).await
    }
}

/// An operator.
#[derive(Clone)]
pub(crate) struct Operator {
    actor: Actor,
    capabilities: Arc<Capabilities>,
    authenticator: Arc<Authenticator>,
    epochs: Epochs,
}

impl Operator {
    pub(crate) fn new(
        actor: Actor,
        capabilities: Arc<Capabilities>,
        authenticator: Arc<Authenticator>,
        epochs: Epochs,
    ) -> Self {
        Self {
            actor,
            capabilities,
            authenticator,
            epochs,
        }
    }

    /// In whose name it is done.
    pub(crate) fn actor(&self) -> &Actor {
        &self.actor
    }

    pub(crate) fn identity(&self) -> &dyn PlatformIdentity {
        &*self.capabilities.identity
    }

    pub(crate) async fn merge(
        &self,
        tenant: &TenantId,
        (primary, secondary): (UserId, UserId),
        source: MergeSource,
    ) -> Result<Merged, IdentityError> {
        self.identity()
            .merge(tenant, primary, secondary, source, &self.actor)
            .await
    }

    pub(crate) async fn undo_merge(
        &self,
        tenant: &TenantId,
        merge: MergeId,
    ) -> Result<Undone, IdentityError> {
        self.identity().undo_merge(tenant, merge, &self.actor).await
    }

    pub(crate) async fn merges(
        &self,
        tenant: &TenantId,
        user: UserId,
    ) -> Result<Vec<MergeRecord>, IdentityError> {
        self.identity().merges(tenant, user).await
    }

    /// A person's turns as they were typed, with an entry in the trail.
    pub(crate) async fn recent_raw(
        &self,
        tenant: &TenantId,
        user: UserId,
        query: &RecentQuery,
    ) -> Result<RecentPage, MemoryError> {
        let raw = &self.capabilities.raw;
        raw.recent_raw(tenant, user, query, &self.actor).await
    }

    pub(crate) async fn erase(
        &self,
        tenant: &TenantId,
        user: UserId,
        mode: Mode,
    ) -> Result<Receipt, ErasureError> {
        let erasure: &dyn Erasure = &*self.capabilities.erasure;
        let receipt = erasure.erase(tenant, user, &self.actor, mode).await;
        // Even when the answer was lost: the epoch may be another.
        self.epochs.forget(tenant).await;
        receipt
    }

    pub(crate) fn jobs(&self) -> &dyn JobControl {
        &*self.capabilities.jobs
    }

    pub(crate) fn tenancy(&self) -> &dyn Tenancy {
        &*self.capabilities.tenancy
    }

    pub(crate) fn audit(&self) -> &dyn Audit {
        &*self.capabilities.audit
    }

    pub(crate) fn outbox(&self) -> &dyn Outbox {
        &*self.capabilities.outbox
    }

    /// After a change of who may call: this process honours it at once.
    pub(crate) fn keys_changed(&self) {
        self.authenticator.forget_all();
    }
}

impl<S: Sync> FromRequestParts<S> for Tenant {
    type Rejection = Failure;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        let tenant = parts.extensions.get::<Self>().cloned();
        tenant.ok_or_else(|| Failure::internal("a handler asked for a tenant its route has not"))
    }
}

impl<S: Sync> FromRequestParts<S> for Operator {
    type Rejection = Failure;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        let operator = parts.extensions.get::<Self>().cloned();
        operator
            .ok_or_else(|| Failure::internal("a handler asked for an operator its route has not"))
    }
}

/// On a tenant's route, where an operator may do more than the tenant's own keys.
impl<S: Sync> OptionalFromRequestParts<S> for Operator {
    type Rejection = Failure;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Option<Self>, Failure> {
        Ok(parts.extensions.get::<Self>().cloned())
    }
}
