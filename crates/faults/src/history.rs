//! What was asked and what was answered, each with its times: all that the checker knows of a round.

use std::time::Duration;

/// Since the beginning of the round, by one clock for all callers.
pub type Moment = Duration;

/// The id of a turn or of a user.
pub type Id = u128;

/// What became of one attempt to append.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// 201, or 200 for a duplicate.
    Stored {
        /// The turn.
        id: Id,
        /// Whose it is.
        user: Id,
        /// Its place; absent when the store's own answer was lost.
        seq: Option<u64>,
        /// Whether it was there before.
        duplicate: bool,
    },
    /// 202: it is durable, and is stored without another call.
    Queued,
    /// A refusal that says: not stored. With its code.
    Refused(String),
    /// No answer, or one that leaves it open. With what was seen.
    Unknown(String),
}

/// One attempt to append; a retry is another attempt with the same key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Appending {
    /// The tenant.
    pub tenant: String,
    /// The channel's name of the person.
    pub person: String,
    /// The key.
    pub key: String,
    /// The words; no other key has them.
    pub text: String,
    /// When it can no longer be read.
    pub ends: Option<Moment>,
    /// Whether the caller dated it back: it then stands further down than what was sent before it.
    pub dated_back: bool,
    /// When it was sent.
    pub sent: Moment,
    /// When the answer was there, or the waiting over.
    pub answered: Moment,
    /// What became of it.
    pub outcome: Outcome,
}

/// A turn as a reader got it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The turn.
    pub id: Id,
    /// Its place.
    pub seq: u64,
    /// The words.
    pub text: String,
    /// When it was said: microseconds since the epoch.
    pub said: i64,
}

/// One read that was answered with 200.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The tenant.
    pub tenant: String,
    /// Whose turns were asked for; nobody's when the caller asked for a stranger's.
    pub person: Option<String>,
    /// When it was asked.
    pub sent: Moment,
    /// When it was answered.
    pub answered: Moment,
    /// Whether there is nothing beyond what was shown.
    pub whole: bool,
    /// Newest first.
    pub turns: Vec<Shown>,
}

/// One erasure of a person, over all attempts it took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Erasing {
    /// The tenant.
    pub tenant: String,
    /// The person.
    pub person: String,
    /// When the first attempt was sent.
    pub sent: Moment,
    /// When it was certain; `None` when it never was.
    pub done: Option<Moment>,
    /// The turns that the receipt counts, when there is one.
    pub receipt: Option<u64>,
}

/// One merge of two people, and its undoing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merging {
    /// The tenant.
    pub tenant: String,
    /// Who survives.
    pub primary: String,
    /// Who is merged away.
    pub secondary: String,
    /// When the first attempt was sent.
    pub sent: Moment,
    /// When it was certain.
    pub done: Option<Moment>,
    /// The turns that the answer counts, when it was not lost.
    pub moved: Option<u64>,
    /// When the undoing was certain.
    pub undone: Option<Moment>,
}

/// An answer that no fault explains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Odd {
    /// What was asked.
    pub what: String,
    /// What came.
    pub answer: String,
}

/// Everything that happened in a round.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// When the round began: microseconds since the epoch, by the machine's clock.
    pub began: i64,
    /// Tenants whose turns are scanned after they were stored.
    pub deferred: Vec<String>,
    /// Appends, one by one and in batches.
    pub appends: Vec<Appending>,
    /// Reads.
    pub reads: Vec<Reading>,
    /// Erasures.
    pub erasures: Vec<Erasing>,
    /// Merges.
    pub merges: Vec<Merging>,
    /// What should never be answered.
    pub odd: Vec<Odd>,
    /// Calls of every kind.
    pub calls: usize,
}
