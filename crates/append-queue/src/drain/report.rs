//! What a sweep did.

/// What a sweep did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Turns it stored.
    pub stored: u64,
    /// Turns that were there already.
    pub duplicates: u64,
    /// Appends of deleted turns or people, thrown away (T-37).
    pub dropped: u64,
    /// Appends that failed and wait for another attempt.
    pub waiting: u64,
    /// Appends that became dead letters, or were set aside in the spool.
    pub dead: u64,
    /// Old dead letters that were deleted.
    pub expired: u64,
    /// It ended because the store is away; no attempt was counted.
    pub away: bool,
    /// It ended with work left: its time was spent, or it was told to stop.
    pub unfinished: bool,
}

impl Report {
    /// Whether there is anything to tell.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// This sweep and the one after it as one: they did what both did, and ended as the later one.
    #[must_use]
    pub fn and(self, later: Self) -> Self {
        Self {
            stored: self.stored + later.stored,
            duplicates: self.duplicates + later.duplicates,
            dropped: self.dropped + later.dropped,
            waiting: self.waiting + later.waiting,
            dead: self.dead + later.dead,
            expired: self.expired + later.expired,
            away: later.away,
            unfinished: later.unfinished,
        }
    }
}
