//! Bringing the ends of stored turns in line with a changed retention (D-17).

use std::ops::Bound;
use std::sync::Arc;

use throughline_conversation_memory::{Restamp, Restamped};
use throughline_domain::Timestamp;

use crate::state::{Log, Restamping, Row};

/// Walks the ends from the latest back. What is made to end later goes where the walk has been; what is
/// made to end earlier is met once more and found in line.
pub(super) fn restamp(log: &mut Log, rule: Restamp, rows: usize, now: Timestamp) -> Restamped {
    if log.restamp.rule != Some(rule) {
        log.restamp = Restamping {
            rule: Some(rule),
            ..Restamping::default()
        };
    }
    if log.restamp.finished {
        return Restamped::default();
    }
    let below = log.restamp.at.map_or(Bound::Unbounded, Bound::Excluded);
    let ends = log.by_end.range((Bound::Unbounded, below)).rev();
    let seen: Vec<Arc<Row>> = ends.take(rows).map(|(_, row)| row.clone()).collect();
    let mut changed = 0;
    for row in &seen {
        log.restamp.at = Some(row.end());
        let end = row.created_at.plus(rule.ttl);
        let longer = rule.extend && end > row.expires_at && row.expires_at > now;
        if end < row.expires_at || longer {
            log.end_at(row, end);
            changed += 1;
        }
    }
    log.restamp.finished = seen.len() < rows;
    Restamped {
        rows: changed,
        more: !log.restamp.finished,
    }
}
