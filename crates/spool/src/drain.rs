//! Emptying the spool into a store, in order, with no entry blocking another lane.

use std::collections::HashSet;

use crate::{Entry, EntryId, Lane, Retried, Spool, SpoolError};

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
            self.drain_batch(entries, &mut deliver, &mut drained)
                .await?;
        }
        Ok(drained)
    }

    async fn drain_batch<F>(
        &self,
        entries: Vec<Entry>,
        deliver: &mut impl FnMut(Entry) -> F,
        drained: &mut Drained,
    ) -> Result<(), SpoolError>
    where
        F: Future<Output = Verdict>,
    {
        let mut stored = Vec::new();
        let mut failed: Vec<(EntryId, Failure)> = Vec::new();
        let mut untried = Vec::new();
        let mut held: HashSet<Lane> = HashSet::new();
        for entry in entries {
            let (id, lane) = (entry.id, entry.lane);
            if drained.away || held.contains(&lane) {
                untried.push(id);
                continue;
            }
            match deliver(entry).await {
                Verdict::Stored => stored.push(id),
                Verdict::Reject(reason) => failed.push((id, Failure::Final(reason))),
                Verdict::Retry(code) => {
                    held.insert(lane);
                    failed.push((id, Failure::Passing(code)));
                }
                Verdict::Away => {
                    drained.away = true;
                    untried.push(id);
                }
            }
        }
        drained.stored += stored.len() as u64;
        self.ack(stored).await?;
        self.release(untried).await?;
        for (id, failure) in failed {
            self.settle(id, failure, drained).await?;
        }
        Ok(())
    }

    async fn settle(
        &self,
        id: EntryId,
        failure: Failure,
        drained: &mut Drained,
    ) -> Result<(), SpoolError> {
        match failure {
            Failure::Final(reason) => {
                drained.set_aside += u64::from(self.set_aside(id, reason).await?);
            }
            Failure::Passing(code) => match self.retry_later(id, code).await? {
                Retried::At(_) => drained.retried += 1,
                Retried::SetAside => drained.set_aside += 1,
                Retried::Gone => {}
            },
        }
        Ok(())
    }
}

enum Failure {
    Passing(String),
    Final(String),
}
