//! One tenant's entries, and which of its lanes are held back or handed out.

use std::collections::{BTreeSet, HashMap};

use throughline_domain::Timestamp;

use super::Slot;
use crate::Lane;

#[derive(Debug, Default)]
pub(super) struct Shelf {
    pending: BTreeSet<u64>,
    aside: BTreeSet<u64>,
    bytes: u64,
    /// Lanes whose first entry failed: which entry, and until when the lane waits for it.
    backoff: HashMap<Lane, (u64, Timestamp)>,
    /// Lanes that are handed out. In memory only: one process holds the file, so a lease is void
    /// exactly when this memory is.
    leases: HashMap<Lane, Lease>,
}

#[derive(Debug)]
struct Lease {
    until: Timestamp,
    out: BTreeSet<u64>,
}

impl Shelf {
    pub(super) fn insert(&mut self, seq: u64, slot: &Slot) {
        self.bytes += slot.charge;
        self.line(slot.aside).insert(seq);
    }

    pub(super) fn remove(&mut self, seq: u64, slot: &Slot) {
        self.bytes -= slot.charge;
        self.line(slot.aside).remove(&seq);
        self.give_back(seq, slot.lane);
        if self
            .backoff
            .get(&slot.lane)
            .is_some_and(|(held, _)| *held == seq)
        {
            self.backoff.remove(&slot.lane);
        }
    }

    fn line(&mut self, aside: bool) -> &mut BTreeSet<u64> {
        if aside {
            &mut self.aside
        } else {
            &mut self.pending
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pending.is_empty() && self.aside.is_empty()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn first(&self, aside: bool) -> Option<u64> {
        if aside {
            self.aside.first()
        } else {
            self.pending.first()
        }
        .copied()
    }

    pub(super) fn pending(&self) -> impl Iterator<Item = u64> {
        self.pending.iter().copied()
    }

    pub(super) fn aside_from(&self, from: u64) -> impl Iterator<Item = u64> {
        self.aside.range(from..).copied()
    }

    pub(super) fn all(&self) -> Vec<u64> {
        self.pending.union(&self.aside).copied().collect()
    }

    /// Of two entries of one lane the one that waits longer decides.
    pub(super) fn back_off(&mut self, seq: u64, lane: Lane, until: Timestamp) {
        let held = self.backoff.entry(lane).or_insert((seq, until));
        if held.1 < until {
            *held = (seq, until);
        }
    }

    /// Whether the lane's entries may be handed out.
    pub(super) fn is_open(&self, lane: Lane, now: Timestamp) -> bool {
        let waits = self
            .backoff
            .get(&lane)
            .is_some_and(|(_, until)| *until > now);
        let leased = self
            .leases
            .get(&lane)
            .is_some_and(|lease| lease.until > now);
        !waits && !leased
    }

    pub(super) fn is_out(&self, seq: u64, lane: Lane, now: Timestamp) -> bool {
        let lease = self.leases.get(&lane);
        lease.is_some_and(|lease| lease.until > now && lease.out.contains(&seq))
    }

    /// Everything that is handed out.
    pub(super) fn out(&self, now: Timestamp) -> impl Iterator<Item = u64> {
        let leases = self.leases.values().filter(move |lease| lease.until > now);
        leases.flat_map(|lease| lease.out.iter().copied())
    }

    /// Hands one entry out, together with what is out of its lane until the same moment.
    pub(super) fn lend(&mut self, seq: u64, lane: Lane, until: Timestamp) {
        let lease = self.leases.entry(lane).or_insert_with(|| Lease {
            until,
            out: BTreeSet::new(),
        });
        if lease.until != until {
            // The lease before has run out; whoever held it may still acknowledge.
            *lease = Lease {
                until,
                out: BTreeSet::new(),
            };
        }
        lease.out.insert(seq);
    }

    pub(super) fn give_back(&mut self, seq: u64, lane: Lane) {
        if let Some(lease) = self.leases.get_mut(&lane) {
            lease.out.remove(&seq);
            if lease.out.is_empty() {
                self.leases.remove(&lane);
            }
        }
    }

    pub(super) fn give_back_lane(&mut self, lane: Lane) {
        self.leases.remove(&lane);
    }
}
