//! What is known of the entries without touching the file: whose they are, what they are charged,
//! who waits behind whom, what is handed out. Rebuilt from the file at every open, so that it cannot
//! drift from it. Some 150 bytes an entry; the byte limits bound it.

mod shelf;
mod take;

use std::collections::BTreeMap;

use throughline_domain::{TenantId, Timestamp};

use crate::stats::Amount;
use crate::{Lane, Limit, SpoolConfig};
use shelf::Shelf;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Slot {
    pub(crate) tenant: TenantId,
    pub(crate) lane: Lane,
    pub(crate) charge: u64,
    pub(crate) enqueued_at: Timestamp,
    pub(crate) aside: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Index {
    slots: BTreeMap<u64, Slot>,
    shelves: BTreeMap<TenantId, Shelf>,
    pending: Amount,
    aside: Amount,
    unreadable: Amount,
    last_served: Option<TenantId>,
}

/// Whose limit an entry does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shortage {
    pub(crate) whose: Limit,
    pub(crate) used: u64,
    pub(crate) limit: u64,
}

impl Index {
    pub(crate) fn insert(&mut self, seq: u64, slot: Slot) {
        self.amount(slot.aside).add(slot.charge);
        let stock = self.shelves.entry(slot.tenant.clone()).or_default();
        stock.insert(seq, &slot);
        self.slots.insert(seq, slot);
    }

    pub(crate) fn remove(&mut self, seq: u64) -> Option<Slot> {
        let slot = self.slots.remove(&seq)?;
        self.amount(slot.aside).take(slot.charge);
        let stock = self.shelves.get_mut(&slot.tenant)?;
        stock.remove(seq, &slot);
        if stock.is_empty() {
            self.shelves.remove(&slot.tenant);
        }
        Some(slot)
    }

    pub(crate) fn get(&self, seq: u64) -> Option<&Slot> {
        self.slots.get(&seq)
    }

    /// Moves an entry out of line or back into it, to the place its sequence gives it.
    pub(crate) fn move_to(&mut self, seq: u64, aside: bool) {
        if let Some(slot) = self.remove(seq) {
            self.insert(seq, Slot { aside, ..slot });
        }
    }

    /// Keeps an entry, and with it its lane, back until a moment. Its lane is nobody's any more.
    pub(crate) fn back_off(&mut self, seq: u64, until: Timestamp) {
        if let Some((stock, lane)) = self.shelf_of(seq) {
            stock.give_back_lane(lane);
            stock.back_off(seq, lane, until);
        }
    }

    /// Makes a handed-out entry takeable again, at once.
    pub(crate) fn release(&mut self, seq: u64) {
        if let Some((stock, lane)) = self.shelf_of(seq) {
            stock.give_back(seq, lane);
        }
    }

    fn shelf_of(&mut self, seq: u64) -> Option<(&mut Shelf, Lane)> {
        let slot = self.slots.get(&seq)?;
        let stock = self.shelves.get_mut(&slot.tenant)?;
        Some((stock, slot.lane))
    }

    fn amount(&mut self, aside: bool) -> &mut Amount {
        if aside {
            &mut self.aside
        } else {
            &mut self.pending
        }
    }

    pub(crate) fn add_unreadable(&mut self, bytes: u64) {
        self.unreadable.add(bytes);
    }

    pub(crate) fn clear_unreadable(&mut self) -> Amount {
        std::mem::take(&mut self.unreadable)
    }

    pub(crate) fn pending(&self) -> Amount {
        self.pending
    }

    pub(crate) fn aside(&self) -> Amount {
        self.aside
    }

    pub(crate) fn unreadable(&self) -> Amount {
        self.unreadable
    }

    pub(crate) fn used(&self) -> u64 {
        self.pending.bytes + self.aside.bytes + self.unreadable.bytes
    }

    pub(crate) fn used_by(&self, tenant: &TenantId) -> u64 {
        self.shelves.get(tenant).map_or(0, Shelf::bytes)
    }

    /// When the first entry of all tenants came.
    pub(crate) fn oldest(&self, aside: bool) -> Option<Timestamp> {
        let first = self
            .shelves
            .values()
            .filter_map(|stock| stock.first(aside))
            .min()?;
        Some(self.slots[&first].enqueued_at)
    }

    /// Sequences of a tenant's entries, in order.
    pub(crate) fn of_tenant(&self, tenant: &TenantId) -> Vec<u64> {
        self.shelves.get(tenant).map_or_else(Vec::new, Shelf::all)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = (u64, &Slot)> {
        self.slots.iter().map(|(seq, slot)| (*seq, slot))
    }

    /// Sequences set aside, after a place, in order.
    pub(crate) fn aside_after<'a>(
        &'a self,
        tenant: Option<&'a TenantId>,
        after: Option<u64>,
    ) -> Box<dyn Iterator<Item = u64> + 'a> {
        let from = after.map_or(0, |seq| seq.saturating_add(1));
        match tenant {
            Some(tenant) => Box::new(
                self.shelves
                    .get(tenant)
                    .into_iter()
                    .flat_map(move |stock| stock.aside_from(from)),
            ),
            None => Box::new(
                self.slots
                    .range(from..)
                    .filter(|(_, slot)| slot.aside)
                    .map(|(seq, _)| *seq),
            ),
        }
    }

    /// Whether another entry fits, and whose limit forbids it if it does not.
    pub(crate) fn room(
        &self,
        tenant: &TenantId,
        charge: u64,
        limits: &SpoolConfig,
    ) -> Result<(), Shortage> {
        let checks = [
            (Limit::Tenant, self.used_by(tenant), limits.per_tenant_bytes),
            (Limit::Everybody, self.used(), limits.max_bytes),
        ];
        match checks
            .into_iter()
            .find(|(_, used, limit)| used.saturating_add(charge) > *limit)
        {
            Some((whose, used, limit)) => Err(Shortage { whose, used, limit }),
            None => Ok(()),
        }
    }

    /// Whether an entry would fit if everything that may be dropped were: what is handed out stays.
    pub(crate) fn room_after_drops(
        &self,
        tenant: &TenantId,
        charge: u64,
        limits: &SpoolConfig,
        now: Timestamp,
    ) -> bool {
        let out =
            |stock: &Shelf| -> u64 { stock.out(now).map(|seq| self.slots[&seq].charge).sum() };
        let of_tenant = self.shelves.get(tenant).map_or(0, out);
        let of_all: u64 = self.shelves.values().map(out).sum();
        of_tenant + charge <= limits.per_tenant_bytes
            && of_all + self.unreadable.bytes + charge <= limits.max_bytes
    }

    /// Which entry makes room: the oldest set aside, else the oldest that is not handed out; of the
    /// tenant whose share is used up, else of the tenant that uses most and has one (T-22).
    pub(crate) fn victim(
        &self,
        tenant: &TenantId,
        shortage: Shortage,
        now: Timestamp,
    ) -> Option<u64> {
        match shortage.whose {
            Limit::Tenant => self.droppable(self.shelves.get(tenant)?, now),
            Limit::Everybody => {
                let victims = self
                    .shelves
                    .values()
                    .filter_map(|stock| Some((stock.bytes(), self.droppable(stock, now)?)));
                victims.max_by_key(|(bytes, _)| *bytes).map(|(_, seq)| seq)
            }
        }
    }

    fn droppable(&self, stock: &Shelf, now: Timestamp) -> Option<u64> {
        let is_out = |seq: &u64| stock.is_out(*seq, self.slots[seq].lane, now);
        stock
            .first(true)
            .or_else(|| stock.pending().find(|seq| !is_out(seq)))
    }
}
