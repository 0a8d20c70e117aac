//! Handing entries out, and what becomes of them.

use redb::ReadableDatabase;
use throughline_domain::Timestamp;

use super::{Changed, Engine, State, missing};
use crate::head::Head;
use crate::seal::{Broken, Sealer};
use crate::tables::{CONTENTS, PENDING};
use crate::{
    Entry, EntryId, REASON_ATTEMPTS, REASON_CORRUPT, Retried, SpoolError, backoff, content,
};

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

    /// Forgets entries that reached their store. How many were still here.
    pub(crate) fn ack(&mut self, ids: &[EntryId]) -> Result<u64, SpoolError> {
        self.change(|tables, state| {
            let mut acknowledged = 0;
            for id in ids {
                if state.index.get(id.0).is_some_and(|slot| !slot.aside) {
                    acknowledged += u64::from(tables.remove(state, id.0)?);
                }
            }
            Ok((acknowledged, Changed::if_any(acknowledged)))
        })
    }

    /// Counts a failed attempt: later again, or aside when it was the last one (T-16).
    pub(crate) fn retry_later(&mut self, id: EntryId, code: &str) -> Result<Retried, SpoolError> {
        self.change(|tables, state| {
            if state.index.get(id.0).is_none_or(|slot| slot.aside) {
                return Ok((Retried::Gone, Changed::Nothing));
            }
            let Some(mut head) = tables.head(&state.sealer, id.0, false)? else {
                return Err(missing("pending", id.0));
            };
            head.attempts += 1;
            code.clone_into(&mut head.last_error);
            if head.attempts >= state.config.max_attempts {
                tables.set_aside(state, head, REASON_ATTEMPTS)?;
                return Ok((Retried::SetAside, Changed::Something));
            }
            let at = next_attempt(state, head.attempts);
            head.next_attempt_at = at;
            tables.put_head(&state.sealer, &head)?;
            state.index.back_off(id.0, at);
            Ok((Retried::At(at), Changed::Something))
        })
    }

    /// Takes an entry that will never be stored out of line (T-38). False if it is not in line.
    pub(crate) fn set_aside(&mut self, id: EntryId, reason: &str) -> Result<bool, SpoolError> {
        self.change(|tables, state| {
            if state.index.get(id.0).is_none_or(|slot| slot.aside) {
                return Ok((false, Changed::Nothing));
            }
            let Some(mut head) = tables.head(&state.sealer, id.0, false)? else {
                return Err(missing("pending", id.0));
            };
            head.attempts += 1;
            tables.set_aside(state, head, reason)?;
            Ok((true, Changed::Something))
        })
    }

    /// Gives entries back untried: no attempt is counted, and they are due as before (T-17).
    pub(crate) fn release(&mut self, ids: &[EntryId]) {
        for id in ids {
            self.state.index.release(id.0);
        }
    }
}

fn next_attempt(state: &State, attempts: u32) -> Timestamp {
    let secret = state.ids.secret();
    let random = u64::from_le_bytes(*secret.first_chunk().expect("a secret has 32 bytes"));
    state.clock.now().plus(backoff::wait(attempts, random))
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
