//! What a rule is. The rules themselves live in `rules/`, one file per kind of text.

use crate::Entity;

/// How a rule knows what it says it knows. The order is the order of precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Strength {
    /// A checksum passed, or a provider's own prefix and length were seen.
    Validated,
    /// The shape alone is telling.
    Structural,
    /// The shape is common, a word beside it tells what it is.
    Contextual,
    /// Nothing but the look of the value behind a telling name.
    Generic,
}

/// One entry of the rule table.
///
/// Examples are kept in parts and joined when they are used, so that no secret scanner takes this
/// source for a leak.
#[derive(Debug)]
pub struct Rule {
    /// Stable id, stored with every span.
    pub id: &'static str,
    /// Raised when the rule changes, so that a re-scan can be limited to what it could have changed.
    pub rev: u16,
    /// What the rule finds.
    pub entity: Entity,
    /// How it knows.
    pub strength: Strength,
    /// One sentence for the newcomer.
    pub summary: &'static str,
    /// Text in which the rule must find something.
    pub matches: &'static [&'static str],
    /// Text that looks alike, in which it must not.
    pub rejects: &'static [&'static str],
}

impl Rule {
    /// The example text that matches.
    pub fn matching_example(&self) -> String {
        self.matches.concat()
    }

    /// The example text that must not match.
    pub fn rejected_example(&self) -> String {
        self.rejects.concat()
    }
}

/// A finding in folded text, before overlaps are resolved.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) rule: &'static Rule,
    pub(crate) score: f32,
}
