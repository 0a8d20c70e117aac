//! Words beside a number that tell what it is, and words that tell what it is not.
//!
//! One automaton over a small window before and a smaller one after a candidate. The nearest word
//! wins, so `order 123, phone 456` reads the way a person reads it. Field names count as words:
//! `callbackNumber`, `callback_number` and `callback-number` are split at their joints.

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

pub(crate) use crate::context_words::Topic;
use crate::context_words::{TELLING_AFTER, WORDS};
use crate::text::{byte_at, byte_before};

const TOPICS: usize = 8;
const BEFORE: usize = 56;
const AFTER: usize = 14;
const ABSENT: u8 = u8::MAX;

/// How far away the nearest word of each topic is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context([u8; TOPICS]);

impl Context {
    /// Whether a word of this topic is near.
    pub(crate) fn has(&self, topic: Topic) -> bool {
        self.distance(topic) != ABSENT
    }

    /// Whether a word of this topic is nearer than any word for another kind of number.
    pub(crate) fn says(&self, topic: Topic) -> bool {
        self.has(topic) && self.distance(topic) <= self.distance(Topic::Other)
    }

    /// Whether the nearest word says that this is a number of another kind.
    pub(crate) fn denies(&self, topic: Topic) -> bool {
        self.distance(Topic::Other) < self.distance(topic)
    }

    fn distance(&self, topic: Topic) -> u8 {
        self.0[topic as usize]
    }
}

/// The compiled lexicon.
pub(crate) struct Lexicon {
    words: AhoCorasick,
    topics: Vec<(Topic, bool)>,
}

impl Lexicon {
    pub(crate) fn new() -> Self {
        let entries: Vec<(Topic, &str)> = WORDS
            .iter()
            .flat_map(|(topic, words)| words.iter().map(move |word| (*topic, *word)))
            .collect();
        let words = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::LeftmostLongest)
            .kind(Some(AhoCorasickKind::DFA))
            .build(entries.iter().map(|(_, word)| *word))
            .expect("a few hundred short words always fit an automaton");
        let topics = entries
            .iter()
            .map(|(topic, word)| (*topic, TELLING_AFTER.contains(word)))
            .collect();
        Self { words, topics }
    }

    /// Reads the words around `start..end`.
    pub(crate) fn around(&self, bytes: &[u8], start: usize, end: usize) -> Context {
        let mut nearest = [ABSENT; TOPICS];
        let from = start.saturating_sub(BEFORE);
        for found in self.words.find_iter(&bytes[from..start]) {
            let (word_start, word_end) = (from + found.start(), from + found.end());
            if is_whole_word(bytes, word_start, word_end) {
                let (topic, _) = self.topics[found.pattern().as_usize()];
                let distance = u8::try_from(start - word_end).unwrap_or(ABSENT - 1);
                nearest[topic as usize] = nearest[topic as usize].min(distance);
            }
        }
        let to = bytes.len().min(end + AFTER);
        for found in self.words.find_iter(&bytes[end..to]) {
            let (topic, after) = self.topics[found.pattern().as_usize()];
            let (word_start, word_end) = (end + found.start(), end + found.end());
            // A word on the next line speaks of the next line.
            let same_line = !bytes[end..word_start].contains(&b'\n');
            if after && same_line && is_whole_word(bytes, word_start, word_end) {
                let topic = if topic == Topic::PhoneWeak {
                    Topic::Phone
                } else {
                    topic
                };
                nearest[topic as usize] = 0;
            }
        }
        Context(nearest)
    }
}

/// Whether a match is a word of its own, or a part of a compound name that is one.
fn is_whole_word(bytes: &[u8], start: usize, end: usize) -> bool {
    let first = bytes[start];
    if first >= 0x80 {
        return true;
    }
    let before = byte_before(bytes, start);
    let camel = first.is_ascii_uppercase() && before.is_ascii_lowercase();
    if before.is_ascii_alphabetic() && !camel {
        return false;
    }
    let last = bytes[end - 1];
    let after = byte_at(bytes, end);
    let joint = last.is_ascii_lowercase() && after.is_ascii_uppercase();
    !after.is_ascii_alphabetic() || joint
}

#[cfg(test)]
mod tests {
    use super::{Lexicon, Topic};

    fn before(text: &str) -> super::Context {
        Lexicon::new().around(text.as_bytes(), text.len(), text.len())
    }

    #[test]
    fn field_names_are_split_at_their_joints() {
        for name in ["callbackNumber", "callback_number", "callback-number"] {
            assert!(before(name).says(Topic::Phone), "{name}");
        }
    }

    #[test]
    fn a_word_inside_another_word_does_not_count() {
        assert!(!before("microphone ").has(Topic::Phone));
        assert!(!before("phonetics ").has(Topic::Phone));
    }

    #[test]
    fn the_nearest_word_wins() {
        assert!(before("order 12, phone ").says(Topic::Phone));
        assert!(before("phone order ").denies(Topic::Phone));
    }
}
