//! Values glued to each other, as in `+12015550123jo@example.com:4111111111111111`.
//!
//! A mask ends where its value ended, and what was glued to the value may then read as something of
//! its own. Where a finding is glued, the text is read again with its masks in place, until nothing
//! new is found: what a reader gets never holds what the detector would still find in it.

use crate::detector::{Detector, MASKED_BY_DEFAULT};
use crate::resolve::resolve;
use crate::rule::Candidate;
use crate::text::{byte_at, byte_before, run_end, run_start};

/// Rounds after which the rest is left: each one uncovers what the one before had hidden.
const ROUNDS: usize = 6;

pub(crate) fn settle(
    detector: &Detector,
    name: &str,
    text: &str,
    found: Vec<Candidate>,
) -> Vec<Candidate> {
    let mut found = found;
    for _ in 0..ROUNDS {
        if !found.iter().any(|candidate| is_glued(text, candidate)) {
            break;
        }
        let masked = Masked::new(text, &found);
        let mut again = Vec::new();
        detector.collect(
            name,
            &masked.text,
            detector.config().max_nested_json,
            &mut again,
        );
        again.retain(|candidate| detector.accepts(candidate) && is_masked(candidate));
        if again.is_empty() {
            break;
        }
        found.extend(again.iter().map(|candidate| masked.original(candidate)));
        found = resolve(found);
    }
    found
}

fn is_masked(candidate: &Candidate) -> bool {
    MASKED_BY_DEFAULT & candidate.rule.entity.bit() != 0 && candidate.score >= 0.5
}

/// Whether something other than a space, a quote or a sentence's mark touches the finding.
fn is_glued(text: &str, candidate: &Candidate) -> bool {
    let free = |byte: Option<&u8>, marks: &[u8]| {
        byte.is_none_or(|byte| byte.is_ascii_whitespace() || marks.contains(byte))
    };
    let bytes = text.as_bytes();
    let before = candidate.start.checked_sub(1).and_then(|at| bytes.get(at));
    let after = bytes.get(candidate.end);
    let stop = after == Some(&b'.') && free(bytes.get(candidate.end + 1), b"");
    let touched = !(free(before, b"\"'`(<=:") && (stop || free(after, b"\"'`,;)>!?")));
    is_masked(candidate) && (touched || is_beside_figures(bytes, candidate))
}

/// Whether the row of figures that the finding is from goes on beyond it.
fn is_beside_figures(bytes: &[u8], candidate: &Candidate) -> bool {
    let joint = |byte: u8| matches!(byte, b' ' | b'(' | b')' | b'-');
    let before = run_start(
        bytes,
        candidate.start,
        candidate.start.saturating_sub(4),
        joint,
    );
    let after = run_end(bytes, candidate.end, 4, joint);
    byte_before(bytes, before).is_ascii_digit() || byte_at(bytes, after).is_ascii_digit()
}

/// A text with labels in place of its findings, and the way back.
struct Masked {
    text: String,
    /// Label start and end in `text`, finding start and end in the original; ascending.
    labels: Vec<[usize; 4]>,
}

impl Masked {
    fn new(original: &str, found: &[Candidate]) -> Self {
        let mut text = String::with_capacity(original.len());
        let mut labels: Vec<[usize; 4]> = Vec::new();
        let mut spans: Vec<(usize, usize, &str)> = Vec::new();
        for candidate in found.iter().filter(|candidate| is_masked(candidate)) {
            match spans.last_mut() {
                Some((_, end, _)) if candidate.start < *end => *end = candidate.end.max(*end),
                _ => spans.push((candidate.start, candidate.end, candidate.rule.entity.name())),
            }
        }
        let mut shown = 0;
        for (start, end, label) in spans {
            text.push_str(&original[shown..start]);
            let begin = text.len();
            text.push('[');
            text.push_str(label);
            text.push(']');
            labels.push([begin, text.len(), start, end]);
            shown = end;
        }
        text.push_str(&original[shown..]);
        Self { text, labels }
    }

    fn original(&self, candidate: &Candidate) -> Candidate {
        // Inside a label the whole value behind it is meant.
        let start = match self.label_at(candidate.start) {
            Some([_, end, from, _]) if candidate.start < end => from,
            Some([_, end, _, to]) => to + (candidate.start - end),
            None => candidate.start,
        };
        let end = match self.label_at(candidate.end - 1) {
            Some([_, end, _, to]) if candidate.end <= end => to,
            Some([_, end, _, to]) => to + (candidate.end - end),
            None => candidate.end,
        };
        Candidate {
            start,
            end,
            ..*candidate
        }
    }

    /// The last label that begins at or before `at`.
    fn label_at(&self, at: usize) -> Option<[usize; 4]> {
        let next = self.labels.partition_point(|label| label[0] <= at);
        next.checked_sub(1).map(|index| self.labels[index])
    }
}
