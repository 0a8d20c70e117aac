//! Deleting turns, audit entries and tombstones.

use std::collections::HashMap;
use std::ops::Bound;
use std::sync::Arc;

use throughline_conversation_memory::{Pass, Swept};
use throughline_domain::{Timestamp, UserId};

use crate::people::ErasedRef;
use crate::state::{Log, Row, TenantState};

/// What a preview counts at most.
const COUNTED: usize = 1_000_000;
/// How many turns an append may push out (T-70).
const PUSHED_OUT: usize = 2;

pub(super) fn sweep(
    state: &mut TenantState,
    pass: Pass,
    rows: usize,
    now: Timestamp,
    until: Timestamp,
) -> Swept {
    match pass {
        Pass::Audit { kept } => {
            let deleted = state.trail.delete_before(now.minus(kept), rows);
            plain(deleted, deleted == rows)
        }
        Pass::Tombstones => {
            let stones = &mut state.log.tombstones;
            let keys: Vec<_> = over(stones, now).take(rows).collect();
            for digest in &keys {
                stones.remove(digest);
            }
            let stones = &mut state.people.erased_refs;
            let refs: Vec<_> = over_refs(stones, now).take(rows).collect();
            for digest in &refs {
                stones.remove(digest);
            }
            let more = keys.len().max(refs.len()) == rows;
            plain(keys.len() + refs.len(), more)
        }
        Pass::Ended | Pass::Count { .. } | Pass::Bytes { .. } => {
            let mut doomed = doomed(&state.log, pass, rows + 1, now);
            let more = doomed.len() > rows;
            doomed.truncate(rows);
            delete(state, &doomed, until);
            Swept {
                more,
                ..sum(&doomed)
            }
        }
    }
}

pub(super) fn preview(state: &TenantState, pass: Pass, now: Timestamp) -> Swept {
    match pass {
        Pass::Audit { kept } => plain(state.trail.count_before(now.minus(kept)), false),
        Pass::Tombstones => {
            let keys = over(&state.log.tombstones, now).take(COUNTED).count();
            let refs = over_refs(&state.people.erased_refs, now).take(COUNTED);
            plain(keys + refs.count(), false)
        }
        pass => sum(&doomed(&state.log, pass, COUNTED, now)),
    }
}

/// After an append: once a user is a twentieth over a cap, the oldest turns make room, two at most
/// (T-70).
pub(crate) fn trim(state: &mut TenantState, user: UserId, now: Timestamp) {
    let config = &state.tenant.config;
    let (turns, bytes) = (config.turn_cap, config.byte_cap);
    let far_over = |have: u64, cap: u64| u128::from(have) * 20 > u128::from(cap) * 21;
    let until = now.plus(config.tombstone_life());
    let Some(usage) = state.log.by_user.get(&user).map(|log| log.usage) else {
        return;
    };
    let (count, size) = (
        far_over(usage.turn_count, turns),
        far_over(usage.byte_count, bytes),
    );
    let caps = (
        if count { turns } else { u64::MAX },
        if size { bytes } else { u64::MAX },
    );
    if count || size {
        let doomed = beyond(&state.log, user, caps, PUSHED_OUT);
        delete(state, &doomed, until);
    }
}

/// Oldest first.
fn doomed(log: &Log, pass: Pass, rows: usize, now: Timestamp) -> Vec<Arc<Row>> {
    match pass {
        Pass::Ended => {
            let ended = (Bound::Unbounded, Bound::Included((now, u64::MAX)));
            log.by_end
                .range(ended)
                .take(rows)
                .map(|(_, row)| row.clone())
                .collect()
        }
        Pass::Count { user, cap } => beyond(log, user, (cap, u64::MAX), rows),
        Pass::Bytes { user, cap } => beyond(log, user, (u64::MAX, cap), rows),
        Pass::Audit { .. } | Pass::Tombstones => Vec::new(),
    }
}

/// The shortest run of the user's oldest turns without which the rest is within both caps.
fn beyond(log: &Log, user: UserId, (turns, bytes): (u64, u64), rows: usize) -> Vec<Arc<Row>> {
    let Some(log) = log.by_user.get(&user) else {
        return Vec::new();
    };
    let mut left = log.usage;
    let over = |row: &&Arc<Row>| {
        let over = left.turn_count > turns || left.byte_count > bytes;
        left.turn_count = left.turn_count.saturating_sub(1);
        left.byte_count = left.byte_count.saturating_sub(row.said.bytes());
        over
    };
    log.turns
        .values()
        .take_while(over)
        .take(rows)
        .cloned()
        .collect()
}

fn delete(state: &mut TenantState, rows: &[Arc<Row>], until: Timestamp) {
    for row in rows {
        state.log.take_out(row);
        let digest = row.said.key().digest(&state.tenant.id);
        let stone = state.log.tombstones.entry(digest).or_insert(until);
        *stone = until.max(*stone);
    }
}

fn over(stones: &HashMap<[u8; 32], Timestamp>, now: Timestamp) -> impl Iterator<Item = [u8; 32]> {
    stones
        .iter()
        .filter(move |(_, until)| **until <= now)
        .map(|(digest, _)| *digest)
}

fn over_refs(
    stones: &HashMap<[u8; 32], ErasedRef>,
    now: Timestamp,
) -> impl Iterator<Item = [u8; 32]> {
    stones
        .iter()
        .filter(move |(_, stone)| stone.until <= now)
        .map(|(digest, _)| *digest)
}

fn sum(rows: &[Arc<Row>]) -> Swept {
    Swept {
        rows: rows.len() as u64,
        bytes: rows.iter().map(|row| row.said.bytes()).sum(),
        more: false,
    }
}

fn plain(rows: usize, more: bool) -> Swept {
    Swept {
        rows: rows as u64,
        bytes: 0,
        more,
    }
}
