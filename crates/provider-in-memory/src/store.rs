//! The store: what it is given, and the one lock around what it knows.

use std::sync::Arc;

use parking_lot::RwLock;
use throughline_domain::{Clock, Ids, TenantId, Timestamp};
use throughline_tenancy::{Principal, Token};

use crate::state::{State, TenantState};

/// Tenants, keys, people and turns in memory. Every call is one atomic step under one lock, which is
/// never held across an await; texts are copied outside it.
pub struct InMemoryStore {
    clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn Ids>,
    state: RwLock<State>,
}

impl InMemoryStore {
    /// An empty store: no tenant, no key.
    pub fn new(clock: Arc<dyn Clock>, ids: Arc<dyn Ids>) -> Arc<Self> {
        Arc::new(Self {
            clock,
            ids,
            state: RwLock::default(),
        })
    }

    /// Lets this token in as `principal` for the life of the process. For a development key: the token
    /// may be any text, so its length (16 characters or more) is the caller's to check. It is neither
    /// listed nor revocable; seeding one token again replaces its holder.
    pub fn seed_key(&self, token: &Token, principal: Principal) {
        let hash = *token.hash().as_bytes();
        self.state.write().seeded.insert(hash, principal);
    }

    /// Now is read under the lock, so that what is stored later is never dated earlier by us.
    pub(crate) fn read<T>(&self, look: impl FnOnce(&State, Timestamp) -> T) -> T {
        let state = self.state.read();
        look(&state, self.clock.now())
    }

    pub(crate) fn write<T>(&self, change: impl FnOnce(&mut State, Timestamp) -> T) -> T {
        let mut state = self.state.write();
        let now = self.clock.now();
        change(&mut state, now)
    }

    /// `None` when there is no such tenant.
    pub(crate) fn read_tenant<T>(
        &self,
        tenant: &TenantId,
        look: impl FnOnce(&TenantState, Timestamp) -> T,
    ) -> Option<T> {
        self.read(|state, now| state.tenants.get(tenant).map(|tenant| look(tenant, now)))
    }

    /// `None` when there is no such tenant.
    pub(crate) fn write_tenant<T>(
        &self,
        tenant: &TenantId,
        change: impl FnOnce(&mut TenantState, Timestamp) -> T,
    ) -> Option<T> {
        self.write(|state, now| {
            let tenant = state.tenants.get_mut(tenant)?;
            Some(change(tenant, now))
        })
    }
}
