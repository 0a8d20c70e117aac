//! What a spool holds and what has happened to it.

use throughline_domain::Timestamp;

/// A number of entries and what they are charged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Amount {
    /// How many.
    pub entries: u64,
    /// What they are charged.
    pub bytes: u64,
}

impl Amount {
    pub(crate) fn add(&mut self, bytes: u64) {
        self.entries += 1;
        self.bytes += bytes;
    }

    pub(crate) fn take(&mut self, bytes: u64) {
        self.entries -= 1;
        self.bytes -= bytes;
    }
}

/// A spool's figures after its latest change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    /// Entries in line.
    pub pending: Amount,
    /// Entries set aside.
    pub set_aside: Amount,
    /// Entries whose head is damaged: it is not known whose they are.
    pub unreadable: Amount,
    /// When the oldest entry in line came.
    pub oldest_pending: Option<Timestamp>,
    /// When the oldest entry set aside came.
    pub oldest_set_aside: Option<Timestamp>,
    /// Entries that overflow has thrown out since the file was made.
    pub dropped_total: u64,
    /// Entries found damaged since the file was made.
    pub corrupt_total: u64,
    /// Syncs since this process opened the file.
    pub commits_total: u64,
}
