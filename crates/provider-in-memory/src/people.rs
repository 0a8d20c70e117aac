//! A tenant's people: who is who, who was merged into whom.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use throughline_domain::{MergeId, ReviewId, Timestamp, UserId};
use throughline_platform_identity::{
    Claim, ClaimState, Identity, MergeRecord, NormalizedEmail, PlatformUserId, Review, UserStatus,
};

#[derive(Default)]
pub(crate) struct People {
    /// Every id that was ever given, the forgotten ones too.
    pub(crate) users: HashMap<UserId, Account>,
    pub(crate) identities: HashMap<PlatformUserId, Known>,
    /// Survivors with everybody merged into them, directly or not.
    merged: HashMap<UserId, BTreeSet<UserId>>,
    pub(crate) claims: HashMap<NormalizedEmail, StoredClaim>,
    pub(crate) merges: BTreeMap<MergeId, MergeRecord>,
    pub(crate) reviews: BTreeMap<ReviewId, Review>,
    /// Digests of the channel users of erased people (T-37).
    pub(crate) erased_refs: HashMap<[u8; 32], ErasedRef>,
}

/// When a channel user was erased, and how long that is remembered.
#[derive(Clone, Copy)]
pub(crate) struct ErasedRef {
    pub(crate) erased_at: Timestamp,
    pub(crate) until: Timestamp,
}

/// One id with the channel users first seen under it.
#[derive(Default)]
pub(crate) struct Account {
    standing: Standing,
    pub(crate) ids: Vec<PlatformUserId>,
}

#[derive(Clone, Copy, Default)]
enum Standing {
    #[default]
    Active,
    MergedInto(UserId),
    Forgotten,
}

/// A channel user and the account it was first seen under.
pub(crate) struct Known {
    pub(crate) account: UserId,
    pub(crate) identity: Identity,
}

/// A claim on an address, held by an account: a merge and its undo leave it alone.
pub(crate) struct StoredClaim {
    pub(crate) account: UserId,
    pub(crate) state: ClaimState,
    pub(crate) last_confirmed_at: Timestamp,
}

impl People {
    /// Where the id stands; `None` for one that was never given.
    pub(crate) fn status(&self, id: UserId) -> Option<UserStatus> {
        Some(match self.users.get(&id)?.standing {
            Standing::Active => UserStatus::Active,
            Standing::MergedInto(_) => UserStatus::Merged,
            Standing::Forgotten => UserStatus::Forgotten,
        })
    }

    /// The survivor behind an id; `None` for an unknown or forgotten one.
    pub(crate) fn root(&self, id: UserId) -> Option<UserId> {
        match self.users.get(&id)?.standing {
            Standing::Active => Some(id),
            Standing::MergedInto(root) => Some(root),
            Standing::Forgotten => None,
        }
    }

    /// Everybody merged into a survivor, sorted.
    pub(crate) fn merged_into(&self, root: UserId) -> Vec<UserId> {
        let merged = self.merged.get(&root);
        merged.into_iter().flatten().copied().collect()
    }

    /// Every id of a survivor's person, sorted.
    pub(crate) fn members(&self, root: UserId) -> Vec<UserId> {
        let mut members = self.merged_into(root);
        members.push(root);
        members.sort_unstable();
        members
    }

    /// The channel users of these accounts.
    pub(crate) fn identities_of(&self, accounts: &[UserId]) -> impl Iterator<Item = &Known> {
        let accounts = accounts.iter().filter_map(|id| self.users.get(id));
        let ids = accounts.flat_map(|account| &account.ids);
        ids.filter_map(|id| self.identities.get(id))
    }

    /// The claim on an address as the rules want it.
    pub(crate) fn claim(&self, email: &NormalizedEmail) -> Option<Claim> {
        let stored = self.claims.get(email)?;
        let holder = self.root(stored.account)?;
        let members = self.members(holder);
        let known = self.identities_of(&members);
        let holder_ids = known.map(|known| known.identity.id.clone()).collect();
        Some(Claim {
            holder,
            state: stored.state,
            last_confirmed_at: stored.last_confirmed_at,
            holder_ids,
        })
    }

    /// The account that holds the claim on an address.
    pub(crate) fn claimant(&self, email: &NormalizedEmail) -> Option<UserId> {
        self.claims.get(email).map(|claim| claim.account)
    }

    /// A new id, active, with its first channel user.
    pub(crate) fn mint(&mut self, account: UserId, identity: Identity) {
        let user = self.users.entry(account).or_default();
        user.ids.push(identity.id.clone());
        let id = identity.id.clone();
        self.identities.insert(id, Known { account, identity });
    }

    /// Puts a survivor and all who were merged into them under another survivor.
    pub(crate) fn put_under(&mut self, from: UserId, into: UserId) {
        for id in self.members(from) {
            self.stand(id, Standing::MergedInto(into));
            self.merged.entry(into).or_default().insert(id);
        }
        self.merged.remove(&from);
    }

    /// Takes the leader out from under a survivor, with those who follow.
    pub(crate) fn take_out(&mut self, root: UserId, leader: UserId, leavers: &[UserId]) {
        if let Some(merged) = self.merged.get_mut(&root) {
            merged.retain(|id| !leavers.contains(id));
        }
        self.stand(leader, Standing::Active);
        for id in leavers.iter().filter(|id| **id != leader) {
            self.stand(*id, Standing::MergedInto(leader));
            self.merged.entry(leader).or_default().insert(*id);
        }
    }

    /// Bars an id for good.
    pub(crate) fn bar(&mut self, id: UserId) {
        self.stand(id, Standing::Forgotten);
        self.merged.remove(&id);
        if let Some(account) = self.users.get_mut(&id) {
            for id in account.ids.drain(..) {
                self.identities.remove(&id);
            }
        }
    }

    fn stand(&mut self, id: UserId, standing: Standing) {
        self.users.entry(id).or_default().standing = standing;
    }
}
