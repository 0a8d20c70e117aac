//! The detector: built once, shared by everybody.

use crate::config::{DetectorConfig, DetectorIdentity};
use crate::context::Lexicon;
use crate::fold::Folded;
use crate::nested;
use crate::resolve::resolve;
use crate::rule::Candidate;
use crate::rules::Scanner;
use crate::settle::settle;
use crate::trigger::Triggers;
use crate::{Entity, Span};

/// Finds personal data and secrets. Building one takes some milliseconds; scanning takes none of
/// its own state, so one behind an `Arc` serves every thread.
pub struct Detector {
    lexicon: Lexicon,
    triggers: Triggers,
    config: DetectorConfig,
    identity: DetectorIdentity,
}

impl std::fmt::Debug for Detector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Detector")
            .field("identity", &self.identity)
            .finish_non_exhaustive()
    }
}

impl Default for Detector {
    fn default() -> Self {
        Self::new(&DetectorConfig::default())
    }
}

impl Detector {
    /// Compiles the word lists and keywords.
    pub fn new(config: &DetectorConfig) -> Self {
        Self {
            lexicon: Lexicon::new(),
            triggers: Triggers::new(),
            config: config.clone(),
            identity: DetectorIdentity::new(config),
        }
    }

    /// Who is looking: stored with every scan.
    pub fn identity(&self) -> &DetectorIdentity {
        &self.identity
    }

    /// The settings it was built with.
    pub fn config(&self) -> &DetectorConfig {
        &self.config
    }

    /// Spans of a text in order of their start, offsets in bytes on character boundaries. Never
    /// panics; takes time in proportion to the text.
    pub fn scan_text(&self, text: &str) -> Vec<Span> {
        self.scan_leaf("", text)
    }

    /// The same for the value of a field, whose name is read as context.
    pub(crate) fn scan_leaf(&self, name: &str, text: &str) -> Vec<Span> {
        let mut found = Vec::new();
        self.collect(name, text, 0, &mut found);
        found.retain(|found| self.accepts(found));
        let settled = settle(self, name, text, resolve(found));
        settled.iter().map(Span::from_candidate).collect()
    }

    /// Whether the settings want to hear of this finding.
    pub(crate) fn accepts(&self, found: &Candidate) -> bool {
        self.config.accepts(found.rule.entity, found.score)
    }

    /// Findings in `text`, in its own byte offsets, unresolved.
    pub(crate) fn collect(&self, name: &str, text: &str, depth: usize, out: &mut Vec<Candidate>) {
        let folded = Folded::new(text);
        if name.is_empty() {
            self.run(folded.text(), 0, &folded, out);
        } else {
            let name = shortened(name);
            let named = format!("{name}: {}", folded.text());
            self.run(&named, name.len() + 2, &folded, out);
        }
        if depth < self.config.max_nested_json && nested::may_be_json(text) {
            nested::collect(self, text, depth + 1, out);
        }
    }

    fn run(&self, text: &str, base: usize, folded: &Folded<'_>, out: &mut Vec<Candidate>) {
        let mut scanner = Scanner::new(text, base, &self.lexicon);
        self.triggers.run(&mut scanner);
        out.extend(scanner.found.into_iter().map(|found| {
            let (start, end) = folded.original_range(found.start - base, found.end - base);
            Candidate {
                start,
                end,
                ..found
            }
        }));
    }
}

/// The end of a long field name, which is where its head noun stands.
fn shortened(name: &str) -> &str {
    const LONGEST: usize = 40;
    let mut from = name.len().saturating_sub(LONGEST);
    while !name.is_char_boundary(from) {
        from += 1;
    }
    &name[from..]
}

/// Bits of the entities that a policy masks unless told otherwise.
pub(crate) const MASKED_BY_DEFAULT: u16 = {
    let mut bits = 0;
    let mut at = 0;
    while at < Entity::ALL.len() {
        let entity = Entity::ALL[at];
        if !matches!(entity, Entity::Url) {
            bits |= entity.bit();
        }
        at += 1;
    }
    bits
};
