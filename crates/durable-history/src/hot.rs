//! The hot ring: the latest turns of the scopes that are talked in (R-001 … R-009).
//!
//! One channel's adapter has one ring of its own, so of the key (tenant, channel kind, scope) the
//! kind is the ring itself and two channels never meet in one (R-008, T-21).

mod bucket;
mod scopes;

use std::collections::HashMap;

use parking_lot::Mutex;
use throughline_conversation_memory::{ClientMessageId, Turn};
use throughline_domain::{TenantId, Timestamp, TurnId, UserId};

use crate::{HistoryTurn, HotLimits};

pub(crate) use bucket::HotTurn;
use scopes::Scopes;

/// Whose scopes: a turn without a tenant is nobody's, and shares with nobody who has one.
pub(crate) type Owner = Option<TenantId>;

/// What a `get` found.
pub(crate) struct Found {
    pub(crate) turns: Vec<HistoryTurn>,
    /// Whether older turns may be in the store (T-23).
    pub(crate) cold: bool,
}

/// What is read from the store for a scope, and as of when.
pub(crate) struct Hydration<'a> {
    pub(crate) turns: &'a [Turn],
    pub(crate) not_before: Timestamp,
    /// What was true before the read began.
    pub(crate) as_of: AsOf,
}

/// What makes a read worthless when it changes meanwhile: somebody was erased, a scope was cleared.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct AsOf {
    epoch: Option<u64>,
    clearings: u64,
}

/// The ring. No call waits for anything but the lock, which is never held across an await.
pub(crate) struct Hot {
    limits: HotLimits,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    tenants: HashMap<Owner, Scopes>,
    epochs: HashMap<TenantId, u64>,
    /// Accesses so far: what was accessed later has the larger one.
    accesses: u64,
    clearings: u64,
    scopes: usize,
    bytes: usize,
}

impl State {
    /// Does something to a tenant's scopes and keeps the sums over all tenants right.
    fn change<T>(&mut self, owner: &Owner, change: impl FnOnce(&mut Scopes, u64) -> T) -> T {
        self.accesses += 1;
        let access = self.accesses;
        let scopes = self.tenants.entry(owner.clone()).or_default();
        let (scopes_before, bytes_before) = (scopes.len(), scopes.bytes());
        let done = change(scopes, access);
        self.scopes = self.scopes + scopes.len() - scopes_before;
        self.bytes = self.bytes + scopes.bytes() - bytes_before;
        if scopes.is_empty() {
            self.tenants.remove(owner);
        }
        done
    }

    fn as_of(&self, tenant: &TenantId) -> AsOf {
        AsOf {
            epoch: self.epochs.get(tenant).copied(),
            clearings: self.clearings,
        }
    }

    /// The tenant with the most scopes, or the most bytes, gives a scope up (T-22).
    fn make_room(&mut self, limits: HotLimits) {
        loop {
            let tenants = self.tenants.iter();
            let largest = if self.scopes > limits.scopes {
                tenants.max_by_key(|(_, scopes)| scopes.len())
            } else if self.bytes > limits.bytes {
                tenants.max_by_key(|(_, scopes)| scopes.bytes())
            } else {
                return;
            };
            let Some(owner) = largest.map(|(owner, _)| owner.clone()) else {
                return;
            };
            self.change(&owner, |scopes, _| scopes.drop_least_recent());
        }
    }
}

impl Hot {
    pub(crate) fn new(limits: HotLimits) -> Self {
        Self {
            limits,
            state: Mutex::default(),
        }
    }

    /// The scope's turns; an access, if there are any.
    pub(crate) fn get(&self, owner: &Owner, scope: &str, now: Timestamp) -> Found {
        let idle = self.limits.idle;
        self.state
            .lock()
            .change(owner, |scopes, access| scopes.get(scope, idle, access, now))
    }

    /// Whether the store was not asked for the scope's past yet. No access.
    pub(crate) fn is_cold(&self, owner: &Owner, scope: &str) -> bool {
        let state = self.state.lock();
        state
            .tenants
            .get(owner)
            .is_none_or(|scopes| scopes.is_cold(scope))
    }

    /// Adds a turn. Says when the turn is in the ring as of: a message that the channel delivers again
    /// keeps its place and its moment.
    pub(crate) fn append(
        &self,
        owner: &Owner,
        scope: &str,
        turn: HotTurn,
        now: Timestamp,
    ) -> Timestamp {
        let HotLimits {
            turns,
            scopes_per_tenant,
            ..
        } = self.limits;
        let mut state = self.state.lock();
        let at = state.change(owner, |scopes, access| {
            let at = scopes.append(scope, turn, turns, access, now);
            scopes.keep_at_most(scopes_per_tenant);
            at
        });
        state.make_room(self.limits);
        at
    }

    /// Puts what the store has in front of what is here. False if somebody was erased or a scope was
    /// cleared while it was read: then nothing of it is used.
    pub(crate) fn hydrate(
        &self,
        tenant: &TenantId,
        scope: &str,
        read: &Hydration<'_>,
        now: Timestamp,
    ) -> bool {
        let HotLimits {
            turns,
            scopes_per_tenant,
            ..
        } = self.limits;
        let mut state = self.state.lock();
        let as_of = state.as_of(tenant);
        // The very first answer of a service has nothing to jump from.
        let jumped = read.as_of.epoch.is_some() && as_of.epoch != read.as_of.epoch;
        if jumped || as_of.clearings != read.as_of.clearings {
            return false;
        }
        state.change(&Some(tenant.clone()), |scopes, access| {
            scopes.hydrate(scope, read, turns, access, now);
            scopes.keep_at_most(scopes_per_tenant);
        });
        state.make_room(self.limits);
        true
    }

    /// Drops the scope's turns. With `until_stored`, none of before now comes back from the store until
    /// [`cleared`](Self::cleared) is called (T-24).
    pub(crate) fn clear(&self, owner: &Owner, scope: &str, until_stored: Option<Timestamp>) {
        let most = self.limits.scopes_per_tenant;
        let mut state = self.state.lock();
        state.clearings += 1;
        state.change(owner, |scopes, _| scopes.clear(scope, until_stored, most));
    }

    /// The store knows of the clearing of then.
    pub(crate) fn cleared(&self, tenant: &TenantId, scope: &str, at: Timestamp) {
        self.state
            .lock()
            .change(&Some(tenant.clone()), |scopes, _| scopes.cleared(scope, at));
    }

    /// The store has the turn under this id, for this user if it said so.
    pub(crate) fn stored(
        &self,
        tenant: &TenantId,
        scope: &str,
        key: &ClientMessageId,
        id: TurnId,
        user: Option<UserId>,
    ) {
        self.state
            .lock()
            .change(&Some(tenant.clone()), |scopes, _| {
                scopes.stored(scope, key, id, user);
            });
    }

    /// Drops a user's turns wherever they are. Returns how many.
    pub(crate) fn forget_user(&self, tenant: &TenantId, user: UserId) -> usize {
        self.state
            .lock()
            .change(&Some(tenant.clone()), |scopes, _| scopes.forget_user(user))
    }

    /// The tenant's epoch as the service says it. A jump drops all of the tenant's turns: whose they
    /// must not be any more is not told (D-09).
    pub(crate) fn see_epoch(&self, tenant: &TenantId, epoch: u64) {
        let mut state = self.state.lock();
        match state.epochs.get(tenant) {
            Some(known) if *known >= epoch => {}
            known => {
                let jumped = known.is_some();
                state.epochs.insert(tenant.clone(), epoch);
                if jumped {
                    state.change(&Some(tenant.clone()), |scopes, _| scopes.drop_turns());
                }
            }
        }
    }

    /// What is true now.
    pub(crate) fn as_of(&self, tenant: &TenantId) -> AsOf {
        self.state.lock().as_of(tenant)
    }

    pub(crate) fn mark_decision(&self, owner: &Owner, scope: &str, topic: &str) {
        let most = self.limits.scopes_per_tenant;
        self.state.lock().change(owner, |scopes, access| {
            scopes.mark_decision(scope, topic, access, most);
        });
    }

    pub(crate) fn decision(&self, owner: &Owner, scope: &str) -> Option<String> {
        let state = self.state.lock();
        state.tenants.get(owner)?.decision(scope)
    }

    pub(crate) fn clear_decision(&self, owner: &Owner, scope: &str) {
        self.state
            .lock()
            .change(owner, |scopes, _| scopes.clear_decision(scope));
    }
}
