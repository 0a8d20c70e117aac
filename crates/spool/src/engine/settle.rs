//! What becomes of entries that were handed out.

use throughline_domain::Timestamp;

use super::{Changed, Engine, State, Tables, missing};
use crate::head::Head;
use crate::{Drained, EntryId, REASON_ATTEMPTS, Retried, SpoolError, Verdict, backoff};

impl Engine {
    /// Forgets entries that reached their store. How many were still here.
    pub(crate) fn ack(&mut self, ids: &[EntryId]) -> Result<u64, SpoolError> {
        self.change(|tables, state| {
            let mut acknowledged = 0;
            for id in ids {
                acknowledged += u64::from(tables.ack(state, *id)?);
            }
            Ok((acknowledged, Changed::if_any(acknowledged)))
        })
    }

    /// Counts a failed attempt: later again, or aside when it was the last one (T-16).
    pub(crate) fn retry_later(&mut self, id: EntryId, code: &str) -> Result<Retried, SpoolError> {
        self.change(|tables, state| {
            let retried = tables.retry_later(state, id, code)?;
            let changed = u64::from(retried != Retried::Gone);
            Ok((retried, Changed::if_any(changed)))
        })
    }

    /// Takes an entry that will never be stored out of line (T-38). False if it is not in line.
    pub(crate) fn set_aside(&mut self, id: EntryId, reason: &str) -> Result<bool, SpoolError> {
        self.change(|tables, state| {
            let done = tables.reject(state, id, reason)?;
            Ok((done, Changed::if_any(u64::from(done))))
        })
    }

    /// All of a batch in one transaction.
    pub(crate) fn settle(
        &mut self,
        verdicts: &[(EntryId, Verdict)],
    ) -> Result<Drained, SpoolError> {
        self.change(|tables, state| {
            let mut settled = Drained::default();
            for (id, verdict) in verdicts {
                match verdict {
                    Verdict::Stored => settled.stored += u64::from(tables.ack(state, *id)?),
                    Verdict::Reject(why) => {
                        settled.set_aside += u64::from(tables.reject(state, *id, why)?);
                    }
                    Verdict::Retry(code) => match tables.retry_later(state, *id, code)? {
                        Retried::At(_) => settled.retried += 1,
                        Retried::SetAside => settled.set_aside += 1,
                        Retried::Gone => {}
                    },
                    Verdict::Away => {
                        settled.away = true;
                        state.index.release(id.0);
                    }
                }
            }
            let changes = settled.stored + settled.retried + settled.set_aside;
            Ok((settled, Changed::if_any(changes)))
        })
    }
}

impl Tables<'_> {
    fn ack(&mut self, state: &mut State, id: EntryId) -> Result<bool, SpoolError> {
        if !in_line(state, id) {
            return Ok(false);
        }
        self.remove(state, id.0)
    }

    fn retry_later(
        &mut self,
        state: &mut State,
        id: EntryId,
        code: &str,
    ) -> Result<Retried, SpoolError> {
        if !in_line(state, id) {
            return Ok(Retried::Gone);
        }
        let mut head = self.tried(state, id)?;
        code.clone_into(&mut head.last_error);
        if head.attempts >= state.config.max_attempts {
            self.set_aside(state, head, REASON_ATTEMPTS)?;
            return Ok(Retried::SetAside);
        }
        let at = next_attempt(state, head.attempts);
        head.next_attempt_at = at;
        self.put_head(&state.sealer, &head)?;
        state.index.back_off(id.0, at);
        Ok(Retried::At(at))
    }

    fn reject(&mut self, state: &mut State, id: EntryId, reason: &str) -> Result<bool, SpoolError> {
        if !in_line(state, id) {
            return Ok(false);
        }
        let head = self.tried(state, id)?;
        self.set_aside(state, head, reason)?;
        Ok(true)
    }

    /// The head with one more attempt.
    fn tried(&self, state: &State, id: EntryId) -> Result<Head, SpoolError> {
        let head = self.head(&state.sealer, id.0, false)?;
        let mut head = head.ok_or_else(|| missing("pending", id.0))?;
        head.attempts += 1;
        Ok(head)
    }
}

fn in_line(state: &State, id: EntryId) -> bool {
    state.index.get(id.0).is_some_and(|slot| !slot.aside)
}

fn next_attempt(state: &State, attempts: u32) -> Timestamp {
    let wait = backoff::wait(attempts, state.ids.number());
    state.clock.now().plus(wait)
}
