//! The bounded queue of one writer, fair between tenants. No I/O.

use std::collections::{HashMap, VecDeque};

use throughline_domain::TenantId;

/// Something with a size.
pub(super) trait Weigh {
    fn bytes(&self) -> u64;
}

/// What may wait, and what is taken at once.
#[derive(Clone, Copy)]
pub(super) struct Bounds {
    /// Waiting rows in all.
    pub(super) rows: usize,
    /// Waiting bytes in all.
    pub(super) bytes: u64,
    /// Rows taken at once.
    pub(super) batch_rows: usize,
    /// Bytes taken at once, unless one row alone has more.
    pub(super) batch_bytes: u64,
    /// Rows taken at once are of one tenant.
    pub(super) one_tenant_each: bool,
}

/// Rows by tenant, each tenant's in the order they came.
pub(super) struct Queue<T> {
    bounds: Bounds,
    tenants: HashMap<TenantId, VecDeque<T>>,
    /// The tenants with waiting rows, in the order of their turns.
    order: VecDeque<TenantId>,
    rows: usize,
    bytes: u64,
}

impl<T: Weigh> Queue<T> {
    pub(super) fn new(bounds: Bounds) -> Self {
        Self {
            bounds,
            tenants: HashMap::new(),
            order: VecDeque::new(),
            rows: 0,
            bytes: 0,
        }
    }

    /// Adds the row behind its tenant's others, or hands it back when the queue is full. A tenant
    /// has half of the queue at most, so that one alone can never shut the others out.
    pub(super) fn push(&mut self, tenant: &TenantId, row: T) -> Result<(), T> {
        let bytes = row.bytes();
        let full = self.rows >= self.bounds.rows
            // A row that is larger than the bound itself must be able to go through.
            || (self.rows > 0 && self.bytes + bytes > self.bounds.bytes);
        if full {
            return Err(row);
        }
        match self.tenants.get_mut(tenant) {
            Some(waiting) if waiting.len() >= self.bounds.rows.div_ceil(2) => return Err(row),
            Some(waiting) => waiting.push_back(row),
            None => {
                self.tenants.insert(tenant.clone(), VecDeque::from([row]));
                self.order.push_back(tenant.clone());
            }
        }
        self.rows += 1;
        self.bytes += bytes;
        Ok(())
    }

    /// What goes into the next transaction: a row of each waiting tenant, and again, until the batch
    /// is full. Whoever was left out comes first in the next one.
    pub(super) fn take(&mut self) -> Vec<(TenantId, T)> {
        let (mut batch, mut bytes) = (Vec::new(), 0);
        while batch.len() < self.bounds.batch_rows {
            let Some(tenant) = self.order.pop_front() else {
                break;
            };
            let Some(waiting) = self.tenants.get_mut(&tenant) else {
                continue;
            };
            let next = waiting.front().map_or(0, Weigh::bytes);
            if !batch.is_empty() && bytes + next > self.bounds.batch_bytes {
                self.order.push_front(tenant);
                break;
            }
            if let Some(row) = waiting.pop_front() {
                bytes += next;
                self.rows -= 1;
                self.bytes -= next;
                batch.push((tenant.clone(), row));
            }
            if waiting.is_empty() {
                self.tenants.remove(&tenant);
                if self.bounds.one_tenant_each {
                    break;
                }
            } else if self.bounds.one_tenant_each && batch.len() < self.bounds.batch_rows {
                self.order.push_front(tenant);
            } else {
                self.order.push_back(tenant);
            }
        }
        batch
    }

    pub(super) fn len(&self) -> usize {
        self.rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Weigh for (u64, u32) {
        fn bytes(&self) -> u64 {
            self.0
        }
    }

    const BOUNDS: Bounds = Bounds {
        rows: 100,
        bytes: 1_000,
        batch_rows: 4,
        batch_bytes: 100,
        one_tenant_each: false,
    };

    fn tenant(name: &str) -> TenantId {
        TenantId::parse(name).unwrap()
    }

    fn filled(bounds: Bounds, rows: &[(&str, u64)]) -> Queue<(u64, u32)> {
        let mut queue = Queue::new(bounds);
        for (number, (name, bytes)) in (0..).zip(rows) {
            queue.push(&tenant(name), (*bytes, number)).unwrap();
        }
        queue
    }

    fn numbers(batch: &[(TenantId, (u64, u32))]) -> Vec<u32> {
        batch.iter().map(|(_, (_, number))| *number).collect()
    }

    #[test]
    fn tenants_take_turns_and_each_keeps_its_order() {
        let loud = [("loud", 1); 6];
        let mut queue = filled(BOUNDS, &[&loud[..], &[("soft", 1), ("calm", 1)]].concat());
        assert_eq!(numbers(&queue.take()), [0, 6, 7, 1]);
        // The loud one was served last, and a newcomer does not wait behind all its rows.
        queue.push(&tenant("late"), (1, 8)).unwrap();
        assert_eq!(numbers(&queue.take()), [2, 8, 3, 4]);
        assert_eq!(numbers(&queue.take()), [5]);
        assert_eq!((queue.len(), queue.bytes), (0, 0));
        assert!(queue.take().is_empty() && queue.tenants.is_empty());
    }

    #[test]
    fn a_batch_ends_at_its_bytes_and_a_large_row_goes_alone() {
        let mut queue = filled(BOUNDS, &[("a", 60), ("b", 60), ("a", 10), ("c", 500)]);
        assert_eq!(numbers(&queue.take()), [0]);
        assert_eq!(numbers(&queue.take()), [1]);
        assert_eq!(numbers(&queue.take()), [3]);
        assert_eq!(numbers(&queue.take()), [2]);
    }

    #[test]
    fn a_full_queue_hands_the_row_back() {
        let bounds = Bounds { rows: 4, ..BOUNDS };
        let mut queue = filled(bounds, &[("a", 1), ("a", 1)]);
        // Half of it is one tenant's, and the rest stays for the others.
        assert!(queue.push(&tenant("a"), (1, 9)).is_err());
        assert!(queue.push(&tenant("b"), (998, 2)).is_ok());
        assert!(queue.push(&tenant("c"), (1, 3)).is_err(), "the bytes");
        assert!(queue.push(&tenant("c"), (0, 3)).is_ok());
        assert!(queue.push(&tenant("d"), (0, 4)).is_err(), "the rows");
        let mut queue = filled(bounds, &[]);
        assert!(queue.push(&tenant("a"), (5_000, 0)).is_ok());
    }

    #[test]
    fn where_tenants_are_apart_a_batch_is_of_one() {
        let bounds = Bounds {
            one_tenant_each: true,
            ..BOUNDS
        };
        let loud = [("loud", 1); 5];
        let mut queue = filled(bounds, &[&loud[..], &[("soft", 1), ("soft", 1)]].concat());
        assert_eq!(numbers(&queue.take()), [0, 1, 2, 3]);
        assert_eq!(numbers(&queue.take()), [5, 6]);
        assert_eq!(numbers(&queue.take()), [4]);
    }
}
