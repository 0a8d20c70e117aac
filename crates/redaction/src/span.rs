//! A finding as callers see it.

use crate::Entity;
use crate::rule::Candidate;

/// Where something was found in a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// First byte, on a character boundary.
    pub start: usize,
    /// Byte after the last, on a character boundary.
    pub end: usize,
    /// What it is.
    pub entity: Entity,
    /// From 0 to 1, how sure the rule is.
    pub score: f32,
    /// The rule that found it.
    pub rule: &'static str,
    /// The rule's revision.
    pub rule_rev: u16,
}

impl Span {
    pub(crate) fn from_candidate(found: &Candidate) -> Self {
        Self {
            start: found.start,
            end: found.end,
            entity: found.rule.entity,
            score: found.score,
            rule: found.rule.id,
            rule_rev: found.rule.rev,
        }
    }
}
