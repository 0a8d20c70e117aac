//! The stretch of an index that a reader walks, so that it never walks what has ended.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use throughline_conversation_memory::Position;
use throughline_domain::Timestamp;

use crate::state::{Ordered, Row};

const MICROSECOND: Duration = Duration::from_micros(1);

/// The rows from `range.start` up to before `range.end`, newest first.
pub(super) fn newest_first(
    rows: &Ordered,
    range: Range<Position>,
) -> impl Iterator<Item = &Arc<Row>> {
    // The map refuses a range that ends before it starts; a query may ask for one.
    let range = if range.start < range.end {
        range
    } else {
        range.start..range.start
    };
    rows.range(range).map(|(_, row)| row).rev()
}

/// The first place of that moment.
pub(super) fn first_at(created_at: Timestamp) -> Position {
    Position { created_at, seq: 0 }
}

/// The first place of which the present retention lets anything be read.
pub(super) fn oldest_kept(now: Timestamp, ttl: Duration) -> Position {
    first_at(now.minus(ttl).plus(MICROSECOND))
}

/// A place after every turn.
pub(super) fn end() -> Position {
    Position {
        created_at: Timestamp::from_micros(i64::MAX),
        seq: u64::MAX,
    }
}
