//! Which turns to try alone after a batch that failed as a whole.

use std::collections::HashSet;

use throughline_conversation_memory::{ChannelScope, QueuedAppend};

/// As many are tried before the store counts as away: one turn that never gets through must not hold up
/// its neighbours (failures.md 30).
const PROBES: usize = 4;

/// The places to try, in this order: first turns of scopes, begun at a random one, so that a few turns that
/// never get through do not stand in front each time; then, in a batch of few scopes, the next ones.
pub(super) fn probes(appends: &[QueuedAppend], random: u64) -> Vec<usize> {
    let mut scopes: HashSet<&ChannelScope> = HashSet::new();
    let mut heads = Vec::new();
    let mut others = Vec::new();
    for (at, append) in appends.iter().enumerate() {
        if scopes.insert(append.turn().scope()) {
            heads.push(at);
        } else {
            others.push(at);
        }
    }
    if !heads.is_empty() {
        let begin = random % heads.len() as u64;
        heads.rotate_left(usize::try_from(begin).unwrap_or(0));
    }
    heads.into_iter().chain(others).take(PROBES).collect()
}
