//! Removing what may not be kept: a user's entries, a tenant's entries past their time (T-37).

use throughline_domain::{TenantId, Timestamp, UserId};

use super::{Changed, Engine, State, Tables};
use crate::head::Head;
use crate::{Entry, EntryId, SpoolError};

/// Which entries have been kept long enough.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expiry {
    /// Whose; everybody's if not given.
    pub tenant: Option<TenantId>,
    /// Entries set aside before this moment go.
    pub set_aside_before: Timestamp,
    /// Entries that came before this moment and are still in line go, if given.
    pub pending_before: Option<Timestamp>,
}

/// What a removal took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Removed {
    /// Entries that were in line.
    pub pending: u64,
    /// Entries that had been set aside.
    pub set_aside: u64,
}

impl Engine {
    pub(crate) fn forget_user(
        &mut self,
        tenant: &TenantId,
        user: UserId,
    ) -> Result<Removed, SpoolError> {
        let all = self.state.index.of_tenant(tenant);
        self.remove_if(all, |head| head.fixed.user == Some(user))
    }

    /// Entries of a tenant, in line or set aside, whose content the caller recognises. One whose seal is
    /// broken cannot be looked into and is left out.
    pub(crate) fn find(
        &self,
        tenant: &TenantId,
        wanted: impl Fn(&Entry) -> bool,
    ) -> Result<Vec<EntryId>, SpoolError> {
        let mut found = Vec::new();
        for seq in self.state.index.of_tenant(tenant) {
            let id = EntryId(seq);
            if self.read(tenant, id)?.is_some_and(|entry| wanted(&entry)) {
                found.push(id);
            }
        }
        Ok(found)
    }

    /// Removes entries wherever they are; handed out ones too, whose taker finds nothing to settle.
    pub(crate) fn forget(
        &mut self,
        tenant: &TenantId,
        ids: &[EntryId],
    ) -> Result<Removed, SpoolError> {
        let theirs = |id: &&EntryId| {
            let slot = self.state.index.get(id.0);
            slot.is_some_and(|slot| slot.tenant == *tenant)
        };
        let seqs = ids.iter().filter(theirs).map(|id| id.0).collect();
        self.remove_if(seqs, |_| true)
    }

    pub(crate) fn forget_tenant(&mut self, tenant: &TenantId) -> Result<Removed, SpoolError> {
        let all = self.state.index.of_tenant(tenant);
        self.remove_if(all, |_| true)
    }

    pub(crate) fn expire(&mut self, expiry: &Expiry) -> Result<Removed, SpoolError> {
        let candidates = match &expiry.tenant {
            Some(tenant) => self.state.index.of_tenant(tenant),
            None => self.state.index.all().map(|(seq, _)| seq).collect(),
        };
        self.remove_if(candidates, |head| match &head.aside {
            Some(aside) => aside.at < expiry.set_aside_before,
            None => expiry
                .pending_before
                .is_some_and(|before| head.fixed.enqueued_at < before),
        })
    }

    fn remove_if(
        &mut self,
        candidates: Vec<u64>,
        goes: impl Fn(&Head) -> bool,
    ) -> Result<Removed, SpoolError> {
        self.change(|tables, state| {
            let mut removed = Removed::default();
            for seq in candidates {
                let Some((aside, head)) = head_of(tables, state, seq)? else {
                    continue;
                };
                if goes(&head) && tables.remove(state, seq)? {
                    *if aside {
                        &mut removed.set_aside
                    } else {
                        &mut removed.pending
                    } += 1;
                }
            }
            Ok((
                removed,
                Changed::if_any(removed.pending + removed.set_aside),
            ))
        })
    }
}

fn head_of(
    tables: &Tables<'_>,
    state: &State,
    seq: u64,
) -> Result<Option<(bool, Head)>, SpoolError> {
    let Some(slot) = state.index.get(seq) else {
        return Ok(None);
    };
    let head = tables.head(&state.sealer, seq, slot.aside)?;
    Ok(head.map(|head| (slot.aside, head)))
}
