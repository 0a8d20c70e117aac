//! Handing entries out.

use redb::ReadableDatabase;

use super::{Changed, Engine, missing};
use crate::head::Head;
use crate::seal::{Broken, Sealer};
use crate::tables::{CONTENTS, PENDING};
use crate::{Entry, EntryId, REASON_CORRUPT, SpoolError, content};

impl Engine {
    /// Hands out what is due. Entries found damaged are put out of the way and not handed out.
    pub(crate) fn next_batch(&mut self, limit: usize) -> Result<Vec<Entry>, SpoolError> {
        let now = self.state.clock.now();
        let config = &self.state.config;
        let until = now.plus(config.lease);
        let chosen = self.state.index.take(now, limit, config.batch_bytes, until);
        let mut entries = Vec::with_capacity(chosen.len());
        let mut damaged = Vec::new();
        let transaction = self.db.begin_read()?;
        let heads = transaction.open_table(PENDING)?;
        let contents = transaction.open_table(CONTENTS)?;
        for seq in chosen {
            let head = heads.get(seq)?.ok_or_else(|| missing("pending", seq))?;
            let sealed = contents.get(seq)?;
            let sealed = sealed.as_ref().map_or(&[][..], |guard| guard.value());
            match open_entry(&self.state.sealer, seq, head.value(), sealed) {
                Ok(entry) => entries.push(entry),
                Err(Broken) => damaged.push((seq, head.value().to_vec())),
            }
        }
        drop((heads, contents));
        transaction.close()?;
        self.put_damaged_away(&damaged)?;
        Ok(entries)
    }

    fn put_damaged_away(&mut self, damaged: &[(u64, Vec<u8>)]) -> Result<(), SpoolError> {
        if damaged.is_empty() {
            return Ok(());
        }
        self.change(|tables, state| {
            for (seq, raw) in damaged {
                if let Ok(head) = Head::decode(&state.sealer, *seq, raw) {
                    tables.set_aside(state, head, REASON_CORRUPT)?;
                    state.corrupt += 1;
                } else {
                    tables.set_unreadable(state, *seq, raw)?;
                }
            }
            Ok(((), Changed::Something))
        })
    }

    /// Gives entries back untried: no attempt is counted, and they are due as before (T-17).
    pub(crate) fn release(&mut self, ids: &[EntryId]) {
        for id in ids {
            self.state.index.release(id.0);
        }
    }
}

/// Puts an entry together from its two rows.
pub(super) fn open_entry(
    sealer: &Sealer,
    seq: u64,
    head: &[u8],
    bytes: &[u8],
) -> Result<Entry, Broken> {
    let Head {
        fixed, attempts, ..
    } = Head::decode(sealer, seq, head)?;
    let content = content::decode(&sealer.open(&fixed.encode(), bytes)?)?;
    Ok(Entry {
        id: EntryId(seq),
        tenant: fixed.tenant,
        user: fixed.user,
        lane: fixed.lane,
        key: content.key,
        order: content.order,
        enqueued_at: fixed.enqueued_at,
        attempts,
        payload: content.payload,
    })
}
