//! How large a spool may grow, how long it gathers before it syncs, what it does when it is full.

use std::time::Duration;

/// What a spool is opened with, besides its directory and its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpoolConfig {
    /// How much all entries together may take. An entry is charged its texts and payload plus
    /// [`ENTRY_OVERHEAD`](crate::ENTRY_OVERHEAD); the file can be larger, as it holds free pages too.
    pub max_bytes: u64,
    /// How much one tenant's entries may take (T-22).
    pub per_tenant_bytes: u64,
    /// How large one entry may be: payload, key and order key together.
    pub max_payload_bytes: u32,
    /// At most one sync in this time, unless `flush_entries` are waiting. The first entry after a
    /// pause does not wait for company.
    pub flush_interval: Duration,
    /// As many entries as share one sync at most.
    pub flush_entries: usize,
    /// How many payload bytes may wait for the file before further callers wait outside.
    pub in_flight_bytes: u32,
    /// How many payload bytes one batch hands out at most (one entry always fits).
    pub batch_bytes: u64,
    /// How long a batch is the taker's alone; afterwards it is handed out again.
    pub lease: Duration,
    /// With how many failed attempts an entry is set aside.
    pub max_attempts: u32,
    /// What happens to an entry that does not fit.
    pub overflow: Overflow,
}

impl Default for SpoolConfig {
    fn default() -> Self {
        Self {
            max_bytes: 256 << 20,
            per_tenant_bytes: 64 << 20,
            max_payload_bytes: 4 << 20,
            flush_interval: Duration::from_millis(20),
            flush_entries: 64,
            in_flight_bytes: 16 << 20,
            batch_bytes: 8 << 20,
            lease: Duration::from_mins(1),
            max_attempts: 5,
            overflow: Overflow::Refuse,
        }
    }
}

impl SpoolConfig {
    /// What makes the limits unusable, if anything.
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        let rules = [
            (
                self.max_payload_bytes == 0,
                "max_payload_bytes must be at least 1",
            ),
            (
                self.in_flight_bytes < self.max_payload_bytes,
                "in_flight_bytes must be at least max_payload_bytes, or the largest entry waits forever",
            ),
            (self.flush_entries == 0, "flush_entries must be at least 1"),
            (self.max_attempts == 0, "max_attempts must be at least 1"),
            (
                self.per_tenant_bytes > self.max_bytes,
                "per_tenant_bytes must not be more than max_bytes",
            ),
            (self.lease.is_zero(), "lease must be longer than nothing"),
        ];
        match rules.into_iter().find(|(broken, _)| *broken) {
            Some((_, rule)) => Err(rule),
            None => Ok(()),
        }
    }
}

/// What happens to an entry that does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overflow {
    /// It is refused, and the caller told: nothing that was acknowledged is ever lost.
    Refuse,
    /// The oldest make room, those set aside first, and are counted. They come from the tenant
    /// itself if its share is used up, else from the tenant that uses most. What is handed out stays;
    /// an entry that would not fit beside it is refused.
    DropOldest,
}
