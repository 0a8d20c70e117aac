//! Words beside a number that tell what it is, and words that tell what it is not.
//!
//! One automaton over a small window before and a smaller one after a candidate. The nearest word
//! wins, so `order 123, phone 456` reads the way a person reads it. Field names count as words:
//! `callbackNumber`, `callback_number` and `callback-number` are split at their joints.

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

pub(crate) use crate::context_words::Topic;
use crate::context_words::{STEMS, TELLING_AFTER, WORDS};
use crate::covered::{Covered, placeholder_before};
use crate::text::{byte_at, byte_before, is_word};

const TOPICS: usize = 8;
const BEFORE: usize = 60;
const AFTER: usize = 20;
/// As near as a word behind counts: one directly before says more.
const AFTERWARDS: u8 = 2;
const ABSENT: u8 = u8::MAX;

/// How far away the nearest word of each topic is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context([u8; TOPICS]);

impl Context {
    /// Whether a word of this topic is near.
    pub(crate) fn has(self, topic: Topic) -> bool {
        self.distance(topic) != ABSENT
    }

    /// Whether a word of this topic is nearer than any word for another kind of number.
    pub(crate) fn says(self, topic: Topic) -> bool {
        self.has(topic) && self.distance(topic) <= self.distance(Topic::Other)
    }

    /// Whether a word of this topic stands directly before, with hardly more than a mark between.
    pub(crate) fn tells(self, topic: Topic) -> bool {
        self.distance(topic) <= 2
    }

    /// Whether the nearest word says that this is a number of another kind.
    pub(crate) fn denies(self, topic: Topic) -> bool {
        self.distance(Topic::Other) < self.distance(topic)
    }

    fn distance(self, topic: Topic) -> u8 {
        self.0[topic as usize]
    }
}

/// The compiled lexicon.
pub(crate) struct Lexicon {
    words: AhoCorasick,
    topics: Vec<Meaning>,
}

#[derive(Clone, Copy)]
struct Meaning {
    topic: Topic,
    /// It speaks of the number before it, too.
    after: bool,
    /// It counts inside a longer word.
    stem: bool,
}

impl Lexicon {
    pub(crate) fn new() -> Self {
        let list = |words: &'static [(Topic, &[&'static str])], stem: bool| {
            words.iter().flat_map(move |(topic, words)| {
                words.iter().map(move |word| {
                    let after = TELLING_AFTER.contains(word);
                    let topic = *topic;
                    (*word, Meaning { topic, after, stem })
                })
            })
        };
        let entries: Vec<(&str, Meaning)> = list(STEMS, true).chain(list(WORDS, false)).collect();
        let words = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::LeftmostLongest)
            .kind(Some(AhoCorasickKind::DFA))
            .build(entries.iter().map(|(word, _)| *word))
            .expect("a few hundred short words always fit an automaton");
        let topics = entries.iter().map(|(_, meaning)| *meaning).collect();
        Self { words, topics }
    }

    /// Reads the words around `start..end`. What is already found or masked is stepped over, so that
    /// a text reads the same before and after it is masked.
    pub(crate) fn around(
        &self,
        bytes: &[u8],
        start: usize,
        end: usize,
        covered: &Covered,
    ) -> Context {
        let mut nearest = [ABSENT; TOPICS];
        let window = Window::before(bytes, start, covered);
        let text = window.text();
        let mut previous = (Topic::Phone, 0);
        for found in self.words.find_iter(text) {
            let Meaning {
                topic: named, stem, ..
            } = self.topics[found.pattern().as_usize()];
            if stem || is_whole_word(text, found.start(), found.end(), window.cut) {
                // In "account number" the first word says which number it is.
                let joined = named == Topic::PhoneWeak
                    && previous.0 != Topic::PhoneWeak
                    && previous.1 > 0
                    && found.start() <= previous.1 + 2;
                let topic = if joined { previous.0 } else { named };
                previous = (topic, found.end());
                if topic == Topic::Other && has_its_number(&text[found.end()..]) {
                    continue;
                }
                let distance = u8::try_from(text.len() - found.end()).unwrap_or(ABSENT - 1);
                nearest[topic as usize] = nearest[topic as usize].min(distance);
            }
        }
        let text = after(bytes, end);
        for found in self.words.find_iter(text) {
            let Meaning { topic, after, stem } = self.topics[found.pattern().as_usize()];
            if !stem && !is_whole_word(text, found.start(), found.end(), false) {
                continue;
            }
            if topic == Topic::Other {
                break;
            }
            if after {
                let topic = if topic == Topic::PhoneWeak {
                    Topic::Phone
                } else {
                    topic
                };
                nearest[topic as usize] = nearest[topic as usize].min(AFTERWARDS);
                break;
            }
        }
        Context(nearest)
    }
}

/// The text behind a candidate: to the end of the line, of the string, or to the next mask, and a little more than the
/// words looked for may reach.
fn after(bytes: &[u8], end: usize) -> &[u8] {
    let text = &bytes[end..bytes.len().min(end + AFTER)];
    let stop = text.iter().enumerate().position(|(at, byte)| {
        matches!(byte, b'\n' | b'"') || *byte == b'[' && byte_at(text, at + 1).is_ascii_uppercase()
    });
    &text[..stop.unwrap_or(text.len())]
}

/// The text before a candidate without what is already found in it.
struct Window {
    buffer: [u8; BEFORE],
    from: usize,
    /// The text goes on before the window.
    cut: bool,
}

impl Window {
    fn before(bytes: &[u8], start: usize, covered: &Covered) -> Self {
        let mut covered = covered.back_from(start);
        let mut window = Self {
            buffer: [0; BEFORE],
            from: BEFORE,
            cut: false,
        };
        let mut at = start;
        let mut steps = 0;
        while at > 0 && window.from > 0 {
            steps += 1;
            if let Some(begin) = covered
                .covering(at)
                .or_else(|| placeholder_before(bytes, at))
                .filter(|_| steps < 2 * BEFORE)
            {
                at = begin.min(at - 1);
                // One joint, however many stretches meet here.
                if window.from < BEFORE && window.buffer[window.from] == 0 {
                    continue;
                }
                window.from -= 1;
                window.buffer[window.from] = 0;
                continue;
            }
            at -= 1;
            window.from -= 1;
            window.buffer[window.from] = bytes[at];
        }
        window.cut = at > 0;
        window
    }

    fn text(&self) -> &[u8] {
        &self.buffer[self.from..]
    }
}

/// Whether the number that a word speaks of stands in `rest`, and other words behind it: in "order 12345,
/// paid with …" the order has its number. A row of numbers has no words in it, but "and" and its like.
fn has_its_number(rest: &[u8]) -> bool {
    const JOINTS: [&[u8]; 8] = [b"and", b"or", b"to", b"und", b"oder", b"et", b"ou", b"bis"];
    let mut words = rest.split(|byte| *byte < 0x80 && !is_word(*byte) && *byte != 0);
    let is_number = |word: &[u8]| word.iter().any(|byte| byte.is_ascii_digit() || *byte == 0);
    let is_text = |word: &[u8]| {
        word.len() >= 2
            && !word
                .iter()
                .any(|byte| byte.is_ascii_digit() || matches!(byte, 0 | b'_'))
            && !JOINTS.iter().any(|joint| word.eq_ignore_ascii_case(joint))
    };
    words.by_ref().any(is_number) && words.any(is_text)
}

/// Whether a match is a word of its own, or a part of a compound name that is one.
fn is_whole_word(bytes: &[u8], start: usize, end: usize, cut: bool) -> bool {
    let first = bytes[start];
    if start == 0 && cut {
        return false;
    }
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
        Lexicon::new().around(
            text.as_bytes(),
            text.len(),
            text.len(),
            &super::Covered::default(),
        )
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
        assert!(!before("IORING_OFF_CQ_RING: u32 = ").has(Topic::Phone));
    }

    #[test]
    fn a_number_is_of_the_kind_that_the_word_before_it_says() {
        assert!(before("account number is ").denies(Topic::PhoneWeak));
        assert!(!before("my card number is ").says(Topic::PhoneWeak));
        assert!(before("phone number is ").says(Topic::Phone));
        assert!(before("my number is ").says(Topic::PhoneWeak));
    }

    #[test]
    fn parts_of_compounds_count() {
        for text in [
            "Telefonnummer: ",
            "Mobiltelefon ",
            "matkapuhelinnumeroni on ",
        ] {
            assert!(before(text).says(Topic::Phone), "{text}");
        }
        assert!(before("Meine Auftragsnummer ist ").denies(Topic::Phone));
    }

    #[test]
    fn in_languages_that_put_the_word_behind_the_number_it_is_read_there() {
        for text in [
            "beni 0 235 503 876 numarasından arayın",
            "0247200327に電話してください",
            "01614960216로 전화 주세요",
            "मुझे 0373129950 पर कॉल करें",
            "hívjon a 12 5237-3911 számon",
        ] {
            assert_eq!(crate::testing::types(text), ["PHONE"], "{text}");
        }
        crate::testing::nothing("배송번호 686252878832");
    }

    #[test]
    fn a_word_that_has_its_number_speaks_of_no_other() {
        assert!(!before("order 82945108: sent from ").denies(Topic::Card));
        assert!(before("orders 82945108, 82945109 and ").denies(Topic::Card));
        assert!(before("order no. ").denies(Topic::Card));
        crate::testing::nothing("the customer number 14960504 is not a phone");
    }

    #[test]
    fn the_nearest_word_wins() {
        assert!(before("order 12, phone ").says(Topic::Phone));
        assert!(before("phone order ").denies(Topic::Phone));
    }
}
