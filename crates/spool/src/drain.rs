//! Emptying the spool into a store, in order, with no entry blocking another lane.

use std::collections::HashSet;

use crate::{Entry, EntryId, Lane, Spool, SpoolError};

/// What a store said to an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It has the entry, whether it had it before or not.
    Stored,
    /// It answered and did not take the entry this time; the code of the error.
    Retry(String),
    /// It will never take the entry; the reason.
    Reject(String),
    /// It is away as a whole. The drain stops and no attempt is counted (T-17).
    Away,
}

/// What one drain did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Drained {
    /// Entries that reached their store.
    pub stored: u64,
    /// Entries that wait for another attempt.
    pub retried: u64,
    /// Entries set aside, at once or after their last attempt.
    pub set_aside: u64,
    /// Whether it ended because the store is away.
    pub away: bool,
}

impl Spool {
    /// Offers every due entry to `deliver`, `batch` at a time, until none is due or the store is away.
    ///
    /// An entry may be offered again after a crash, a cancellation or a lease that ran out between its
    /// delivery and its acknowledgement: `deliver` must be idempotent by tenant and key.
    pub async fn drain<F>(
        &self,
        batch: usize,
        mut deliver: impl FnMut(Entry) -> F,
    ) -> Result<Drained, SpoolError>
    where
        F: Future<Output = Verdict>,
    {
        let mut drained = Drained::default();
        while !drained.away {
            let entries = self.next_batch(batch).await?;
            if entries.is_empty() {
                break;
            }
            let (verdicts, untried) = offer(entries, &mut deliver).await;
            let settled = self.settle(verdicts).await?;
            self.release(untried).await?;
            drained.stored += settled.stored;
            drained.retried += settled.retried;
            drained.set_aside += settled.set_aside;
            drained.away = settled.away;
        }
        Ok(drained)
    }
}

/// Offers a batch, and gives back untried what stands behind a failure or comes after the store went.
async fn offer<F>(
    entries: Vec<Entry>,
    deliver: &mut impl FnMut(Entry) -> F,
) -> (Vec<(EntryId, Verdict)>, Vec<EntryId>)
where
    F: Future<Output = Verdict>,
{
    let mut verdicts = Vec::with_capacity(entries.len());
    let mut untried = Vec::new();
    let mut held: HashSet<Lane> = HashSet::new();
    let mut away = false;
    for entry in entries {
        let (id, lane) = (entry.id, entry.lane);
        if away || held.contains(&lane) {
            untried.push(id);
            continue;
        }
        let verdict = deliver(entry).await;
        match &verdict {
            Verdict::Retry(_) => {
                held.insert(lane);
            }
            Verdict::Away => away = true,
            Verdict::Stored | Verdict::Reject(_) => {}
        }
        verdicts.push((id, verdict));
    }
    (verdicts, untried)
}
