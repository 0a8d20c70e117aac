//! What an operator can do with entries that were set aside: read them, put them back, throw them away.

use redb::ReadableDatabase;
use throughline_domain::TenantId;

use super::deliver::open_entry;
use super::{Changed, Engine, State, missing};
use crate::head::Head;
use crate::stats::Amount;
use crate::tables::{ASIDE, CONTENTS, PENDING};
use crate::{Entry, EntryId, SetAside, SpoolError};

impl Engine {
    pub(crate) fn list_set_aside(
        &self,
        tenant: Option<&TenantId>,
        after: Option<EntryId>,
        limit: usize,
    ) -> Result<Vec<SetAside>, SpoolError> {
        let transaction = self.db.begin_read()?;
        let heads = transaction.open_table(ASIDE)?;
        let mut listed = Vec::new();
        for seq in self
            .state
            .index
            .aside_after(tenant, after.map(|id| id.0))
            .take(limit)
        {
            let bytes = heads.get(seq)?.ok_or_else(|| missing("aside", seq))?;
            let head = Head::decode(&self.state.sealer, seq, bytes.value());
            listed.extend(head.ok().and_then(describe));
        }
        Ok(listed)
    }

    /// The whole entry, wherever it is. `None` if it is not here or cannot be opened.
    pub(crate) fn read(&self, tenant: &TenantId, id: EntryId) -> Result<Option<Entry>, SpoolError> {
        let Some(slot) = self
            .state
            .index
            .get(id.0)
            .filter(|slot| slot.tenant == *tenant)
        else {
            return Ok(None);
        };
        let transaction = self.db.begin_read()?;
        let heads = transaction.open_table(if slot.aside { ASIDE } else { PENDING })?;
        let contents = transaction.open_table(CONTENTS)?;
        let (Some(head), Some(content)) = (heads.get(id.0)?, contents.get(id.0)?) else {
            return Ok(None);
        };
        Ok(open_entry(&self.state.sealer, id.0, head.value(), content.value()).ok())
    }

    /// Puts entries back in line, where they were, with all their attempts before them.
    pub(crate) fn requeue(
        &mut self,
        tenant: &TenantId,
        ids: &[EntryId],
    ) -> Result<u64, SpoolError> {
        self.change(|tables, state| {
            let mut requeued = 0;
            for id in ids {
                if !is_aside(state, tenant, *id) {
                    continue;
                }
                let Some(mut head) = tables.head(&state.sealer, id.0, true)? else {
                    continue;
                };
                head.aside = None;
                head.attempts = 0;
                head.next_attempt_at = state.clock.now();
                tables.aside.remove(id.0)?;
                tables.put_head(&state.sealer, &head)?;
                state.index.move_to(id.0, false);
                requeued += 1;
            }
            Ok((requeued, Changed::if_any(requeued)))
        })
    }

    /// Throws entries that were set aside away.
    pub(crate) fn discard(
        &mut self,
        tenant: &TenantId,
        ids: &[EntryId],
    ) -> Result<u64, SpoolError> {
        self.change(|tables, state| {
            let mut discarded = 0;
            for id in ids {
                if is_aside(state, tenant, *id) {
                    discarded += u64::from(tables.remove(state, id.0)?);
                }
            }
            Ok((discarded, Changed::if_any(discarded)))
        })
    }

    /// Throws what is left of entries with damaged heads away.
    pub(crate) fn discard_unreadable(&mut self) -> Result<u64, SpoolError> {
        self.change(|tables, state| {
            let contents = &mut tables.contents;
            let mut lost = std::collections::BTreeSet::new();
            let mut failed = None;
            tables.unreadable.retain(|seq, _| {
                failed = failed.take().or(contents.remove(seq).map(|_| ()).err());
                lost.insert(seq);
                false
            })?;
            if let Some(error) = failed {
                return Err(error.into());
            }
            tables.keys.retain(|_, seq| !lost.contains(&seq))?;
            let Amount { entries, .. } = state.index.clear_unreadable();
            Ok((entries, Changed::if_any(entries)))
        })
    }
}

fn is_aside(state: &State, tenant: &TenantId, id: EntryId) -> bool {
    let slot = state.index.get(id.0);
    slot.is_some_and(|slot| slot.aside && slot.tenant == *tenant)
}

fn describe(head: Head) -> Option<SetAside> {
    let aside = head.aside?;
    Some(SetAside {
        id: EntryId(head.fixed.seq),
        tenant: head.fixed.tenant,
        user: head.fixed.user,
        enqueued_at: head.fixed.enqueued_at,
        set_aside_at: aside.at,
        attempts: head.attempts,
        last_error: head.last_error,
        reason: aside.reason,
        bytes: head.fixed.charge,
    })
}
