//! An erasure that reaches the spool of this process, beside the store.

use std::collections::HashSet;
use std::sync::Arc;

use async_trait::async_trait;
use throughline_conversation_memory::{QueuedAppend, QueuedAuthor};
use throughline_domain::{Actor, TenantId, UserId};
use throughline_erasure::{Erasure, ErasureError, Mode, Receipt};
use throughline_platform_identity::{ChannelUser, IdentityError, PlatformIdentity, PlatformUserId};
use throughline_spool::{Entry, EntryId, Spool, SpoolError};

/// Erases in the store, and then what waits on this machine's disk.
///
/// The store's transaction is the erasure: whatever waits elsewhere, or comes into this spool
/// meanwhile, is refused when it is drained. Removing it here only ends its life on the disk sooner,
/// so a spool that cannot be read is logged and changes nothing about the answer.
pub struct SpooledErasure {
    store: Arc<dyn Erasure>,
    identity: Arc<dyn PlatformIdentity>,
    spool: Spool,
}

/// Who waits: the person's channel users, read while they are still known.
struct Theirs {
    tenant: TenantId,
    refs: HashSet<PlatformUserId>,
}

impl SpooledErasure {
    /// Over a store.
    pub fn new(store: Arc<dyn Erasure>, identity: Arc<dyn PlatformIdentity>, spool: Spool) -> Self {
        Self {
            store,
            identity,
            spool,
        }
    }

    async fn channel_users(
        &self,
        tenant: &TenantId,
        user: UserId,
    ) -> Result<HashSet<PlatformUserId>, ErasureError> {
        let found = self.identity.user(tenant, user).await;
        let person = found.map_err(|error| match error {
            IdentityError::UnknownTenant(tenant) => ErasureError::UnknownTenant(tenant),
            IdentityError::Corrupt { table, column, row } => {
                ErasureError::Corrupt { table, column, row }
            }
            error => ErasureError::Unavailable(Box::new(error)),
        })?;
        let identities = person.into_iter().flat_map(|person| person.identities);
        Ok(identities.map(|identity| identity.id).collect())
    }

    /// How many there are; after a real run, how many there were.
    async fn forget(&self, theirs: Theirs, ids: &[UserId], mode: Mode) -> Result<u64, SpoolError> {
        let tenant = theirs.tenant.clone();
        let ids: HashSet<UserId> = ids.iter().copied().collect();
        let wanted = move |entry: &Entry| {
            let by_user = entry.user.is_some_and(|user| ids.contains(&user));
            by_user || theirs.said(entry)
        };
        let found: Vec<EntryId> = self.spool.find(tenant.clone(), wanted).await?;
        if mode == Mode::Rehearse || found.is_empty() {
            return Ok(found.len() as u64);
        }
        let removed = self.spool.forget(tenant, found).await?;
        Ok(removed.pending + removed.set_aside)
    }
}

impl Theirs {
    /// Whether one of the channel users is the author, not resolved yet.
    fn said(&self, entry: &Entry) -> bool {
        let Ok(document) = std::str::from_utf8(&entry.payload) else {
            return false;
        };
        let append = QueuedAppend::decode(document, entry.enqueued_at);
        let author = append.ok().map(|append| append.author().clone());
        let Some(QueuedAuthor::Ref(author)) = author else {
            return false;
        };
        ChannelUser::of_author(&author).is_some_and(|user| self.refs.contains(&user.id))
    }
}

#[async_trait]
impl Erasure for SpooledErasure {
    async fn erase(
        &self,
        tenant: &TenantId,
        user: UserId,
        actor: &Actor,
        mode: Mode,
    ) -> Result<Receipt, ErasureError> {
        let theirs = Theirs {
            tenant: tenant.clone(),
            refs: self.channel_users(tenant, user).await?,
        };
        let mut receipt = self.store.erase(tenant, user, actor, mode).await?;
        match self.forget(theirs, &receipt.user_ids, mode).await {
            Ok(entries) => receipt.counts.deleted_spooled = entries,
            Err(error) => {
                let error: &dyn std::error::Error = &error;
                tracing::error!(
                    error,
                    "the spool could not be looked through; what it holds of an erased person is dropped when it is drained"
                );
            }
        }
        Ok(receipt)
    }
}
