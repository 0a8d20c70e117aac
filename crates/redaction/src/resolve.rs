//! Brings the findings of all rules into one deterministic list.
//!
//! One sort and one sweep, never pairs against pairs: a megabyte of findings stays linear.

use crate::Entity;
use crate::rule::Candidate;

/// Drops what another finding of the same type contains, joins same-type findings that overlap, and
/// keeps one of several types that claim the very same characters. Nested findings of *other* types
/// stay: an unmasked URL must not unmask the address in it.
pub(crate) fn resolve(mut found: Vec<Candidate>) -> Vec<Candidate> {
    if found.len() < 2 {
        return found;
    }
    found.sort_by(|a, b| {
        (a.start, std::cmp::Reverse(a.end))
            .cmp(&(b.start, std::cmp::Reverse(b.end)))
            .then_with(|| precedence(a, b))
    });
    let mut kept: Vec<Candidate> = Vec::with_capacity(found.len());
    let mut last_of_type = [usize::MAX; Entity::ALL.len()];
    for candidate in found {
        if let Some(previous) = kept.last()
            && previous.start == candidate.start
            && previous.end == candidate.end
        {
            continue;
        }
        let last = &mut last_of_type[candidate.rule.entity as usize];
        if let Some(previous) = kept.get_mut(*last)
            && candidate.start < previous.end
        {
            if candidate.end > previous.end {
                let winner = if precedence(previous, &candidate).is_le() {
                    *previous
                } else {
                    candidate
                };
                let (start, end) = (previous.start, candidate.end);
                *previous = Candidate {
                    start,
                    end,
                    ..winner
                };
            }
            continue;
        }
        *last = kept.len();
        kept.push(candidate);
    }
    kept
}

/// The total order of findings: validated before structural before contextual before generic, then
/// the higher score, the longer, the earlier, the type's rank, the rule's name.
pub(crate) fn precedence(a: &Candidate, b: &Candidate) -> std::cmp::Ordering {
    (a.rule.strength.cmp(&b.rule.strength))
        .then_with(|| b.score.total_cmp(&a.score))
        .then_with(|| (b.end - b.start).cmp(&(a.end - a.start)))
        .then_with(|| a.start.cmp(&b.start))
        .then_with(|| a.rule.entity.cmp(&b.rule.entity))
        .then_with(|| a.rule.id.cmp(b.rule.id))
}
