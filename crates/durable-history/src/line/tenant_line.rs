//! One tenant's part of the line.

use std::collections::{HashMap, HashSet, VecDeque};

use throughline_conversation_memory::{ChannelScope, QueuedAuthor};
use throughline_domain::UserId;
use tokio::time::Instant;

use super::{Fate, Levels, LineLimits, Taken, Work};
use crate::config::Backoff;

/// Work that failed this often by itself no longer holds its scope up. Its moment keeps its place in
/// the history, whenever it gets there.
pub(crate) const HOLDS: u32 = 5;

struct Entry {
    number: u64,
    work: Work,
    bytes: usize,
    /// How often it was tried and did not get through.
    tries: u32,
    /// How often others got through beside it.
    faults: u32,
    taken: bool,
}

impl Entry {
    fn leave(&self, levels: &mut Levels) {
        levels.bytes -= self.bytes;
        if self.tries == 0 {
            levels.queued -= 1;
        } else {
            levels.failed -= 1;
        }
    }
}

#[derive(Default)]
pub(super) struct TenantLine {
    entries: VecDeque<Entry>,
    busy: bool,
    failures: u32,
    not_before: Option<Instant>,
}

impl TenantLine {
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty() && !self.busy
    }

    pub(super) fn push(&mut self, number: u64, work: Work, bytes: usize) {
        self.entries.push_back(Entry {
            number,
            work,
            bytes,
            tries: 0,
            faults: 0,
            taken: false,
        });
    }

    /// Whether there is work to take, once it is due.
    pub(super) fn is_ready(&self) -> bool {
        !self.busy && !self.entries.is_empty()
    }

    /// When its work is due; `None` at once.
    pub(super) fn not_before(&self) -> Option<Instant> {
        self.not_before
    }

    /// Scopes whose head was tried least often come first, so that one turn that never gets through
    /// cannot stand before the others' for ever (failures.md 30).
    pub(super) fn take(&mut self, most: LineLimits) -> Vec<Taken> {
        let fewest = self.fewest_tries();
        let mut held: HashSet<ChannelScope> = HashSet::new();
        let mut taken = Vec::new();
        let mut bytes = 0;
        for entry in &mut self.entries {
            if taken.len() >= most.entries {
                break;
            }
            let scope = entry.work.scope();
            if held.contains(scope) {
                continue;
            }
            if entry.tries > fewest {
                if entry.faults < HOLDS {
                    held.insert(scope.clone());
                }
                continue;
            }
            bytes += entry.bytes;
            if bytes > most.bytes && !taken.is_empty() {
                break;
            }
            entry.taken = true;
            taken.push(Taken {
                number: entry.number,
                work: entry.work.clone(),
                tries: entry.tries,
            });
        }
        self.busy = !taken.is_empty();
        taken
    }

    /// The least number of tries among what could be next in its scope.
    fn fewest_tries(&self) -> u32 {
        let mut seen: HashSet<&ChannelScope> = HashSet::new();
        let heads = self.entries.iter().filter(|entry| {
            let first = !seen.contains(entry.work.scope());
            if entry.faults < HOLDS {
                seen.insert(entry.work.scope());
            }
            first
        });
        heads.map(|entry| entry.tries).min().unwrap_or(0)
    }

    pub(super) fn settle(&mut self, fates: &[(u64, Fate)], levels: &mut Levels) {
        let fates: HashMap<u64, Fate> = fates.iter().copied().collect();
        self.entries.retain_mut(|entry| {
            if !entry.taken {
                return true;
            }
            entry.taken = false;
            let fate = fates.get(&entry.number).copied().unwrap_or(Fate::Untried);
            if fate == Fate::Done {
                entry.leave(levels);
                return false;
            }
            if fate != Fate::Untried {
                if entry.tries == 0 {
                    levels.queued -= 1;
                    levels.failed += 1;
                }
                entry.tries += 1;
                entry.faults += u32::from(fate == Fate::Failed);
            }
            true
        });
        self.busy = false;
    }

    /// Goes on at once after anything got through with nothing left over, else after a pause.
    pub(super) fn wait(
        &mut self,
        fates: &[(u64, Fate)],
        backoff: Backoff,
        random: u64,
        now: Instant,
    ) {
        let any = |wanted| fates.iter().any(|(_, fate)| *fate == wanted);
        let through = any(Fate::Done);
        if through {
            self.failures = 0;
        }
        if any(Fate::Away) || any(Fate::Failed) {
            self.failures += 1;
            // What failed beside others waits its turn behind them, not the others for it.
            let fresh = self.entries.iter().any(|entry| entry.tries == 0);
            if !(through && fresh) {
                self.not_before = Some(now + backoff.wait(self.failures, random));
                return;
            }
        }
        self.not_before = None;
    }

    pub(super) fn stop_waiting(&mut self) {
        self.failures = 0;
        self.not_before = None;
    }

    /// Whether anything is not just being written.
    pub(super) fn has_idle(&self) -> bool {
        self.entries.iter().any(|entry| !entry.taken)
    }

    /// Drops the oldest entry that is not just being written. Returns 1 for a turn, 0 for a clearing.
    pub(super) fn drop_oldest(&mut self, levels: &mut Levels) -> u64 {
        let oldest = self.entries.iter().position(|entry| !entry.taken);
        let Some(entry) = oldest.and_then(|at| self.entries.remove(at)) else {
            return 0;
        };
        entry.leave(levels);
        u64::from(matches!(entry.work, Work::Append(_)))
    }

    pub(super) fn forget_user(&mut self, user: UserId, levels: &mut Levels) -> usize {
        let before = self.entries.len();
        self.entries.retain(|entry| {
            let theirs = matches!(&entry.work, Work::Append(turn)
                if turn.author == QueuedAuthor::User(user));
            if theirs {
                entry.leave(levels);
            }
            !theirs
        });
        before - self.entries.len()
    }
}
