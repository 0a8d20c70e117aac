//! Deleting by rule, over the store.

mod reconcile;
mod restamp;
mod sweep;

use std::ops::Bound;
use std::time::Duration;

use async_trait::async_trait;
use throughline_conversation_memory::{
    Caps, Chunk, MemoryError, OverCap, Pass, Reconciled, Restamp, Restamped, Retention,
    RetentionError, Swept, Usage,
};
use throughline_domain::{TenantId, Timestamp, UserId};

use crate::InMemoryStore;

pub(crate) use sweep::trim;

/// How many users over a cap are told at once.
const OVER: usize = 100;

fn known<T>(found: Option<T>, tenant: &TenantId) -> Result<T, RetentionError> {
    found.ok_or_else(|| MemoryError::UnknownTenant(tenant.clone()).into())
}

#[async_trait]
impl Retention for InMemoryStore {
    async fn sweep(
        &self,
        tenant: &TenantId,
        pass: Pass,
        chunk: Chunk,
        tombstone_life: Duration,
    ) -> Result<Swept, RetentionError> {
        let rows = chunk.get() as usize;
        let swept = self.write_tenant(tenant, |state, now| {
            sweep::sweep(state, pass, rows, now, now.plus(tombstone_life))
        });
        known(swept, tenant)
    }

    async fn preview(&self, tenant: &TenantId, pass: Pass) -> Result<Swept, RetentionError> {
        let found = self.read_tenant(tenant, |state, now| sweep::preview(state, pass, now));
        known(found, tenant)
    }

    async fn over_cap(
        &self,
        tenant: &TenantId,
        caps: Caps,
        after: Option<UserId>,
    ) -> Result<OverCap, RetentionError> {
        let over = |usage: Usage| usage.turn_count > caps.turns || usage.byte_count > caps.bytes;
        let found = self.read_tenant(tenant, |state, _| {
            let users = state
                .log
                .by_user
                .iter()
                .map(|(user, log)| (*user, log.usage));
            let mut users: Vec<_> = users
                .filter(|(user, usage)| over(*usage) && after.is_none_or(|after| *user > after))
                .collect();
            users.sort_unstable_by_key(|(user, _)| *user);
            let more = users.len() > OVER;
            users.truncate(OVER);
            OverCap {
                next: users.last().filter(|_| more).map(|(user, _)| *user),
                users,
            }
        });
        known(found, tenant)
    }

    async fn restamp(
        &self,
        tenant: &TenantId,
        rule: Restamp,
        chunk: Chunk,
    ) -> Result<Restamped, RetentionError> {
        let rows = chunk.get() as usize;
        let done = self.write_tenant(tenant, |state, now| {
            restamp::restamp(&mut state.log, rule, rows, now)
        });
        known(done, tenant)
    }

    async fn reconcile(
        &self,
        tenant: &TenantId,
        after: Option<UserId>,
        users: u32,
    ) -> Result<Reconciled, RetentionError> {
        let users = users.max(1) as usize;
        let done = self.write_tenant(tenant, |state, _| {
            reconcile::reconcile(&mut state.log, after, users)
        });
        known(done, tenant)
    }

    async fn oldest_ended(&self) -> Result<Option<Timestamp>, RetentionError> {
        Ok(self.read(|state, now| {
            let ended = (Bound::Unbounded, Bound::Included((now, u64::MAX)));
            let oldest =
                |log: &crate::state::Log| log.by_end.range(ended).next().map(|(end, _)| end.0);
            state
                .tenants
                .values()
                .filter_map(|tenant| oldest(&tenant.log))
                .min()
        }))
    }
}
