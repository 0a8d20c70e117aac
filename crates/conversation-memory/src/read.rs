//! What a reader asks for and gets.

use throughline_domain::{Timestamp, TurnId, UserId};

use crate::{CanvasSessionId, ChannelKind, Turn};

/// How many turns to read: 1..=100.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit(u32);

impl Limit {
    /// The most turns one read returns.
    pub const MAX: u32 = 100;

    /// More than 100 is 100; zero is no limit at all and `None`.
    pub fn new(turns: u32) -> Option<Self> {
        (turns > 0).then(|| Self(turns.min(Self::MAX)))
    }

    /// The number of turns.
    pub fn get(self) -> u32 {
        self.0
    }
}

impl Default for Limit {
    fn default() -> Self {
        Self(20)
    }
}

/// A turn's place in the order every reader uses: time, then commit order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// When it was said.
    pub created_at: Timestamp,
    /// The tenant's commit order.
    pub seq: u64,
}

/// Which of a user's turns to read. The default is the latest 20.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecentQuery {
    /// How many at most.
    pub limit: Limit,
    /// Not before this moment (inclusive, R-082).
    pub since: Option<Timestamp>,
    /// Before this moment (exclusive).
    pub until: Option<Timestamp>,
    /// Leave out the turns of this canvas; turns without a canvas stay (T-20).
    pub exclude_canvas: Option<CanvasSessionId>,
    /// Only these channel kinds; an empty list is no filter.
    pub channel_kinds: Vec<ChannelKind>,
    /// Go on after this position: only older turns.
    pub before: Option<Position>,
}

/// A page of a user's turns.
#[derive(Clone, Debug, PartialEq)]
pub struct RecentPage {
    /// Newest first.
    pub turns: Vec<Turn>,
    /// Where the next page goes on; `None` when there is nothing older.
    pub next: Option<Position>,
    /// Turns that the query asks for, on whatever page, and that are left out because nobody has
    /// scanned them yet; counted up to the limit (T-07).
    pub pending_excluded: u32,
    /// Until when the same question would get the same page, for whoever wants to remember it; `None`
    /// when it must not be remembered.
    pub fresh: Option<Freshness>,
}

/// What everything that changes a person's page changes: while it stays equal, a page read at it is what
/// a read would give, but for what ends by the clock ([`Freshness::until`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadVersion {
    /// Whose turns they are: the survivor of a merge.
    pub user: UserId,
    /// Counts the changes of that person's turns.
    pub changes: u64,
    /// Counts the changes of the tenant's rules.
    pub rules: u64,
}

/// How long a page may be remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Freshness {
    /// What it was read at, of one moment with its turns.
    pub version: ReadVersion,
    /// The first of its turns ends then.
    pub until: Timestamp,
}

/// How much is stored for a user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Turns, the expired but unswept ones included.
    pub turn_count: u64,
    /// Their bytes.
    pub byte_count: u64,
}

impl Turn {
    /// The turn's place in the order.
    pub fn position(&self) -> Position {
        Position {
            created_at: self.created_at,
            seq: self.seq,
        }
    }

    /// Its id; short for readers that only compare ids.
    pub fn id(&self) -> TurnId {
        self.id
    }
}
