//! The stored form of a scan: versioned, self-describing, and without the matched text (T-34).

use serde::{Deserialize, Serialize};

use crate::config::DetectorIdentity;
use crate::scan::{Field, FieldSpan, TurnContent};
use crate::{Entity, Span};

/// What is stored beside a turn after a scan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RedactionMetadata {
    /// Version of this form.
    pub v: u32,
    /// Who looked.
    pub detector: DetectorIdentity,
    /// Digest of the content that was looked at.
    pub content_sha256: String,
    /// When, in microseconds since 1970.
    pub scanned_at: i64,
    /// What was found.
    pub spans: Vec<StoredSpan>,
}

impl RedactionMetadata {
    /// The current version of the form.
    pub const FORM: u32 = 1;

    /// Whether the spans are those of this very content.
    pub fn describes(&self, content: &TurnContent<'_>) -> bool {
        self.content_sha256 == content.sha256()
    }

    /// Whether every span of `older` lies within spans of this one: a re-scan may replace a result
    /// by itself only when it widens it.
    pub fn covers(&self, older: &Self) -> bool {
        older.spans.iter().all(|old| {
            let mut near: Vec<_> = self
                .spans
                .iter()
                .filter(|new| new.shares_leaf(old))
                .collect();
            near.sort_by_key(|new| new.start);
            let mut reached = old.start;
            for new in near {
                if new.whole || (new.start <= reached && new.end > reached) {
                    reached = if new.whole { usize::MAX } else { new.end };
                }
            }
            reached >= old.end
        })
    }
}

/// One span in the stored form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoredSpan {
    /// The field it is in.
    pub field: Field,
    /// For a JSON field, the pointer of the leaf.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ptr: Option<String>,
    /// The span is in the object key.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub key: bool,
    /// The leaf is covered whole.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub whole: bool,
    /// First byte in the unescaped string.
    pub start: usize,
    /// Byte after the last.
    pub end: usize,
    /// What it is.
    #[serde(rename = "type")]
    pub entity: Entity,
    /// How sure the rule was.
    pub score: f32,
    /// The rule.
    pub rule_id: String,
    /// Its revision.
    pub rule_rev: u16,
}

impl StoredSpan {
    fn shares_leaf(&self, other: &Self) -> bool {
        self.field == other.field && self.ptr == other.ptr && self.key == other.key
    }
}

impl From<FieldSpan> for StoredSpan {
    fn from(found: FieldSpan) -> Self {
        let Span {
            start,
            end,
            entity,
            score,
            rule,
            rule_rev,
        } = found.span;
        Self {
            field: found.field,
            ptr: found.pointer,
            key: found.in_key,
            whole: found.whole,
            start,
            end,
            entity,
            // Two digits are what a rule can tell, and what survives JSON unchanged.
            score: (score * 100.0).round() / 100.0,
            rule_id: rule.to_owned(),
            rule_rev,
        }
    }
}
