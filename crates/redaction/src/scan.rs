//! One turn: four fields, their findings, and the limits on them.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::config::{DetectorIdentity, hex};
use crate::detector::Detector;
use crate::metadata::{RedactionMetadata, StoredSpan};
use crate::rule::{Candidate, Rule};
use crate::rules::UNSCANNED;
use crate::{Span, json};

/// The content of a turn as it is stored.
#[derive(Clone, Copy, Debug)]
pub struct TurnContent<'a> {
    /// What the person wrote.
    pub user_message: &'a str,
    /// What was answered.
    pub assistant_answer: &'a str,
    /// JSON text, when tools were called.
    pub tool_calls: Option<&'a str>,
    /// JSON text.
    pub metadata: &'a str,
}

impl TurnContent<'_> {
    /// A digest that changes when any field does. Fields are set apart by their length.
    pub fn sha256(&self) -> String {
        let mut digest = Sha256::new();
        let tool_calls = self.tool_calls.unwrap_or("");
        for field in [
            self.user_message,
            self.assistant_answer,
            tool_calls,
            self.metadata,
        ] {
            digest.update((field.len() as u64).to_le_bytes());
            digest.update(field);
        }
        digest.update([u8::from(self.tool_calls.is_some())]);
        hex(&digest.finalize())
    }

    /// Bytes in all fields.
    pub fn len(&self) -> usize {
        let tool_calls = self.tool_calls.map_or(0, str::len);
        self.user_message.len() + self.assistant_answer.len() + tool_calls + self.metadata.len()
    }

    /// Whether there is nothing to scan.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A field of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Field {
    /// `user_message`
    UserMessage,
    /// `assistant_answer`
    AssistantAnswer,
    /// `tool_calls`
    ToolCalls,
    /// `metadata`
    Metadata,
}

/// A finding in a turn.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldSpan {
    /// The field it is in.
    pub field: Field,
    /// For a JSON field, the way to the leaf: a step is the place of an item, or of a member in the order
    /// of names; never a name, which may be a finding itself.
    pub pointer: Option<String>,
    /// The span is in the object key at the pointer, not in the value.
    pub in_key: bool,
    /// The leaf is covered whole: a denied name, or beyond a limit.
    pub whole: bool,
    /// Where; offsets count in the unescaped string.
    pub span: Span,
}

/// What a scan found.
#[derive(Clone, Debug, PartialEq)]
pub struct Scan {
    /// Findings by field, pointer and start.
    pub spans: Vec<FieldSpan>,
    /// Digest of the content that was scanned.
    pub content_sha256: String,
    /// Bytes that were given, for the metrics.
    pub bytes: usize,
    /// Something was beyond a limit and is covered whole.
    pub limited: bool,
}

impl Scan {
    /// Whether nothing was found.
    pub fn is_clean(&self) -> bool {
        self.spans.is_empty()
    }

    /// The form that is stored beside the turn. `scanned_at` is in microseconds since 1970.
    pub fn into_metadata(self, detector: &DetectorIdentity, scanned_at: i64) -> RedactionMetadata {
        RedactionMetadata {
            v: RedactionMetadata::FORM,
            detector: detector.clone(),
            content_sha256: self.content_sha256,
            scanned_at,
            spans: self.spans.into_iter().map(StoredSpan::from).collect(),
        }
    }
}

impl Detector {
    /// Scans every field of a turn: texts as they are, JSON leaf by leaf and key by key. Never
    /// panics; more findings than the limit cover their leaf whole.
    pub fn scan_turn(&self, turn: &TurnContent<'_>) -> Scan {
        let mut spans = Vec::new();
        let mut limited = false;
        let texts = [
            (Field::UserMessage, turn.user_message),
            (Field::AssistantAnswer, turn.assistant_answer),
        ];
        for (field, text) in texts {
            let mut out = Collector {
                field,
                spans: &mut spans,
                limited: &mut limited,
            };
            out.text(self, Place::text(), "", text);
        }
        let documents = [
            (Field::ToolCalls, turn.tool_calls.unwrap_or("")),
            (Field::Metadata, turn.metadata),
        ];
        for (field, text) in documents {
            if !text.trim().is_empty() {
                json::scan(
                    self,
                    text,
                    &mut Collector {
                        field,
                        spans: &mut spans,
                        limited: &mut limited,
                    },
                );
            }
        }
        Scan {
            spans,
            content_sha256: turn.sha256(),
            bytes: turn.len(),
            limited,
        }
    }
}

/// A leaf or a key, before it is known whether it is worth an allocation.
#[derive(Clone, Copy)]
pub(crate) struct Place<'p> {
    pointer: Option<&'p str>,
    in_key: bool,
}

impl<'p> Place<'p> {
    fn text() -> Self {
        Self {
            pointer: None,
            in_key: false,
        }
    }

    pub(crate) fn root() -> Self {
        Self {
            pointer: Some(""),
            in_key: false,
        }
    }

    pub(crate) fn at(pointer: &'p str) -> Self {
        Self {
            pointer: Some(pointer),
            in_key: false,
        }
    }

    pub(crate) fn key(pointer: &'p str) -> Self {
        Self {
            pointer: Some(pointer),
            in_key: true,
        }
    }
}

/// Gathers findings of one field and keeps the limits.
pub(crate) struct Collector<'s> {
    field: Field,
    spans: &'s mut Vec<FieldSpan>,
    limited: &'s mut bool,
}

impl Collector<'_> {
    pub(crate) fn text(&mut self, detector: &Detector, place: Place<'_>, name: &str, text: &str) {
        if text.len() > detector.config().max_leaf_bytes {
            return self.cover(place, text.len(), &UNSCANNED);
        }
        let found = detector.scan_leaf(name, text);
        if !found.is_empty() && self.spans.len() + found.len() > detector.config().max_spans {
            return self.cover(place, text.len(), &UNSCANNED);
        }
        for span in found {
            self.push(place, false, span);
        }
    }

    /// Covers a leaf whole.
    pub(crate) fn cover(&mut self, place: Place<'_>, len: usize, rule: &'static Rule) {
        *self.limited |= std::ptr::eq(rule, &raw const UNSCANNED);
        let whole = Candidate {
            start: 0,
            end: len,
            rule,
            score: 1.0,
        };
        self.push(place, true, Span::from_candidate(&whole));
    }

    fn push(&mut self, place: Place<'_>, whole: bool, span: Span) {
        let pointer = place.pointer.map(str::to_owned);
        self.spans.push(FieldSpan {
            field: self.field,
            pointer,
            in_key: place.in_key,
            whole,
            span,
        });
    }
}
