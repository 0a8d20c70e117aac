//! The spool as one thread sees it: the file, the index of it, and one transaction a change.
//!
//! A change moves the index inside its transaction. If the commit fails the two disagree, so whoever
//! holds the engine drops it after any [`SpoolError::Storage`] and opens the file anew.

mod aside;
mod change;
mod deliver;
mod enqueue;
mod forget;
mod open;
mod settle;

use std::sync::Arc;

use redb::Database;
use throughline_domain::{Clock, Ids};

use crate::index::Index;
use crate::seal::Sealer;
use crate::stats::Stats;
use crate::{SpoolConfig, SpoolError, StorageFault};
pub(crate) use change::Tables;
pub use forget::{Expiry, Removed};
pub(crate) use open::Opening;

pub(crate) struct Engine {
    db: Database,
    state: State,
}

/// Everything but the file.
pub(crate) struct State {
    pub(crate) index: Index,
    sealer: Arc<Sealer>,
    config: Arc<SpoolConfig>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
    next_seq: u64,
    dropped: u64,
    corrupt: u64,
    commits: u64,
}

impl Engine {
    pub(crate) fn stats(&self) -> Stats {
        let State {
            index,
            dropped,
            corrupt,
            commits,
            ..
        } = &self.state;
        Stats {
            pending: index.pending(),
            set_aside: index.aside(),
            unreadable: index.unreadable(),
            oldest_pending: index.oldest(false),
            oldest_set_aside: index.oldest(true),
            dropped_total: *dropped,
            corrupt_total: *corrupt,
            commits_total: *commits,
        }
    }

    pub(crate) fn index(&self) -> &Index {
        &self.state.index
    }

    /// Gives free pages at the end of the file back to the system.
    pub(crate) fn compact(&mut self) -> Result<bool, SpoolError> {
        Ok(self.db.compact()?)
    }

    pub(crate) fn close(self) -> Result<(), SpoolError> {
        Ok(self.db.close()?)
    }

    /// Runs `change` in one transaction and returns when it is on disk. `change` says whether there is
    /// anything to commit.
    fn change<T>(
        &mut self,
        change: impl FnOnce(&mut Tables<'_>, &mut State) -> Result<(T, Changed), SpoolError>,
    ) -> Result<T, SpoolError> {
        let transaction = self.db.begin_write()?;
        let (value, changed) = {
            let mut tables = Tables::open(&transaction)?;
            let (value, changed) = change(&mut tables, &mut self.state)?;
            if changed == Changed::Something {
                tables.save_numbers(&self.state)?;
            }
            (value, changed)
        };
        match changed {
            Changed::Something => {
                transaction.commit()?;
                self.state.commits += 1;
            }
            Changed::Nothing => transaction.abort()?,
        }
        Ok(value)
    }
}

/// Whether a transaction has anything to commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Changed {
    Something,
    Nothing,
}

impl Changed {
    fn if_any(count: u64) -> Self {
        if count > 0 {
            Self::Something
        } else {
            Self::Nothing
        }
    }
}

/// The index names an entry that the file does not hold.
fn missing(table: &str, seq: u64) -> SpoolError {
    SpoolError::Storage(StorageFault::new(format!(
        "table {table} has no entry {seq}"
    )))
}
