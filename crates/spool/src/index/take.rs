//! Which entries come next: tenants in turn, each tenant's in the order they came, no lane that is
//! held back or handed out.

use std::ops::Bound;

use throughline_domain::{TenantId, Timestamp};

use super::{Index, Shelf};

impl Index {
    /// Hands out up to `limit` entries of up to `max_bytes` (the first is taken whatever its size)
    /// until `lease_until`. The tenant after the last one served begins, so that small batches are
    /// as fair as large ones.
    pub(crate) fn take(
        &mut self,
        now: Timestamp,
        limit: usize,
        max_bytes: u64,
        lease_until: Timestamp,
    ) -> Vec<u64> {
        let chosen = self.choose(now, limit, max_bytes);
        for seq in &chosen {
            let slot = &self.slots[seq];
            self.last_served = Some(slot.tenant.clone());
            if let Some(stock) = self.shelves.get_mut(&slot.tenant) {
                stock.lend(*seq, slot.lane, lease_until);
            }
        }
        chosen
    }

    fn choose(&self, now: Timestamp, limit: usize, max_bytes: u64) -> Vec<u64> {
        let mut lines: Vec<_> = self
            .in_turn()
            .map(|stock| self.takeable(stock, now))
            .collect();
        let mut chosen = Vec::new();
        let mut bytes = 0;
        while !lines.is_empty() {
            let mut full = false;
            lines.retain_mut(|line| {
                if full || chosen.len() >= limit {
                    full = true;
                    return true;
                }
                let Some(seq) = line.next() else { return false };
                bytes += self.slots[&seq].charge;
                full = bytes > max_bytes && !chosen.is_empty();
                if !full {
                    chosen.push(seq);
                }
                true
            });
            if full {
                break;
            }
        }
        chosen
    }

    fn in_turn(&self) -> impl Iterator<Item = &Shelf> {
        let later = match &self.last_served {
            Some(last) => (Bound::Excluded(last), Bound::Unbounded),
            None => (Bound::Unbounded, Bound::Unbounded),
        };
        let earlier = self
            .last_served
            .iter()
            .flat_map(|last| self.shelves.range::<TenantId, _>(..=last));
        self.shelves
            .range::<TenantId, _>(later)
            .chain(earlier)
            .map(|(_, stock)| stock)
    }

    fn takeable<'a>(&'a self, stock: &'a Shelf, now: Timestamp) -> impl Iterator<Item = u64> + 'a {
        stock
            .pending()
            .filter(move |seq| stock.is_open(self.slots[seq].lane, now))
    }
}
