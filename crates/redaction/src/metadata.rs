//! The stored form of a scan: versioned, self-describing, and without the matched text (T-34).

use serde::{Deserialize, Serialize};

use crate::config::DetectorIdentity;
use crate::rules::UNSCANNED;
use crate::scan::{Field, FieldSpan, TurnContent};
use crate::{Entity, MaskPolicy, Span};

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

    /// Whether a reader under the default policy is shown nothing that `older` hid: a re-scan may
    /// replace a result by itself only when it widens it.
    pub fn covers(&self, older: &Self) -> bool {
        older.spans.iter().all(|old| self.hides(old))
    }

    /// This result, and of `older` what it would unmask.
    #[must_use]
    pub fn widened_by(mut self, older: &Self) -> Self {
        let kept = older.spans.iter().filter(|old| !self.hides(old));
        let kept: Vec<StoredSpan> = kept.cloned().collect();
        self.spans.extend(kept);
        // What lies below a value that is covered whole has no place of its own any more.
        let wholes = self.spans.iter().filter(|span| span.whole);
        let wholes: Vec<StoredSpan> = wholes.cloned().collect();
        self.spans
            .retain(|span| !wholes.iter().any(|whole| whole.is_above(span)));
        self
    }

    /// Every field covered whole, for a turn that cannot be looked through.
    pub fn covering(
        content: &TurnContent<'_>,
        detector: &DetectorIdentity,
        scanned_at: i64,
    ) -> Self {
        let fields = [
            (Field::UserMessage, None, content.user_message),
            (Field::AssistantAnswer, None, content.assistant_answer),
            (Field::ToolCalls, Some(""), content.tool_calls.unwrap_or("")),
            (Field::Metadata, Some(""), content.metadata),
        ];
        let said = fields
            .into_iter()
            .filter(|(_, _, text)| !text.is_empty() && *text != "{}");
        let spans = said.map(|(field, ptr, text)| StoredSpan {
            field,
            ptr: ptr.map(str::to_owned),
            key: false,
            whole: true,
            start: 0,
            end: text.len(),
            entity: UNSCANNED.entity,
            score: 1.0,
            rule_id: UNSCANNED.id.to_owned(),
            rule_rev: UNSCANNED.rev,
        });
        Self {
            v: Self::FORM,
            detector: detector.clone(),
            content_sha256: content.sha256(),
            scanned_at,
            spans: spans.collect(),
        }
    }

    /// Whether what that span of another result masks is masked by this one.
    fn hides(&self, old: &StoredSpan) -> bool {
        let policy = MaskPolicy::default();
        let was_shown = !policy.masks(old.entity, old.score);
        let counts = |new: &&StoredSpan| was_shown || policy.masks(new.entity, new.score);
        let news = || self.spans.iter().filter(counts);
        if news().any(|new| new.whole && (new.is_above(old) || new.shares_leaf(old))) {
            return true;
        }
        if old.whole {
            return false;
        }
        let mut near: Vec<_> = news().filter(|new| new.shares_leaf(old)).collect();
        near.sort_by_key(|new| new.start);
        let mut reached = old.start;
        for new in near {
            if new.start <= reached && new.end > reached {
                reached = new.end;
            }
        }
        reached >= old.end
    }
}

/// One span in the stored form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoredSpan {
    /// The field it is in.
    pub field: Field,
    /// For a JSON field, the way to the leaf, by places: see [`FieldSpan::pointer`].
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
    /// Whether the other one lies in a value below this one's.
    fn is_above(&self, other: &Self) -> bool {
        let below = |above: &str, below: &str| {
            let rest = below.strip_prefix(above);
            rest.is_some_and(|rest| rest.starts_with('/'))
        };
        let pointers = self.ptr.as_deref().zip(other.ptr.as_deref());
        self.field == other.field && !self.key && pointers.is_some_and(|(a, b)| below(a, b))
    }

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

#[cfg(test)]
mod tests {
    use super::{RedactionMetadata, StoredSpan};
    use crate::testing::DETECTOR;
    use crate::{Entity, Field, MaskPolicy, TurnContent, mask_turn};

    const TURN: TurnContent<'static> = TurnContent {
        user_message: "write jo@example.com today",
        assistant_answer: "",
        tool_calls: Some(r#"{"a":{"to":"jo@example.com"},"b":"plain"}"#),
        metadata: r#"{"k":1}"#,
    };

    fn scanned() -> RedactionMetadata {
        let scan = DETECTOR.scan_turn(&TURN);
        scan.into_metadata(DETECTOR.identity(), 0)
    }

    fn span(field: Field, ptr: Option<&str>, start: usize, end: usize) -> StoredSpan {
        StoredSpan {
            field,
            ptr: ptr.map(str::to_owned),
            key: false,
            whole: false,
            start,
            end,
            entity: Entity::Phone,
            score: 0.9,
            rule_id: "x".to_owned(),
            rule_rev: 1,
        }
    }

    fn with(spans: Vec<StoredSpan>) -> RedactionMetadata {
        RedactionMetadata { spans, ..scanned() }
    }

    #[test]
    fn a_result_that_unmasks_something_does_not_cover() {
        let field = Field::UserMessage;
        let old = with(vec![span(field, None, 6, 20)]);
        assert!(scanned().covers(&old) && scanned().covers(&scanned()));
        assert!(!with(vec![]).covers(&old));
        assert!(!with(vec![span(field, None, 7, 20)]).covers(&old));
        assert!(with(vec![span(field, None, 6, 10), span(field, None, 10, 21)]).covers(&old));
        // The same stretch under a label that is shown would unmask it.
        let shown = StoredSpan {
            entity: Entity::Url,
            ..span(field, None, 0, 26)
        };
        assert!(!with(vec![shown]).covers(&old));
        let faint = StoredSpan {
            score: 0.4,
            ..span(field, None, 0, 26)
        };
        assert!(!with(vec![faint]).covers(&old));
    }

    #[test]
    fn a_widened_result_covers_both_and_still_fits_its_turn() {
        let whole = StoredSpan {
            whole: true,
            ..span(Field::ToolCalls, Some("/0"), 0, 24)
        };
        let older = [
            with(vec![span(Field::UserMessage, None, 0, 8)]),
            with(vec![span(Field::ToolCalls, Some("/1"), 0, 5)]),
            with(vec![whole]),
            with(vec![]),
        ];
        for old in older {
            let both = scanned().widened_by(&old);
            assert!(both.covers(&old) && both.covers(&scanned()), "{old:?}");
            let masked = mask_turn(&TURN, &both, &MaskPolicy::default()).unwrap();
            assert!(!masked.tool_calls.unwrap().contains("jo@"), "{old:?}");
        }
        let narrower = with(vec![span(Field::UserMessage, None, 6, 8)]);
        assert_eq!(scanned().widened_by(&narrower), scanned());
    }

    // T-45
    #[test]
    fn a_covering_result_shows_no_character_of_the_turn() {
        let covering = RedactionMetadata::covering(&TURN, DETECTOR.identity(), 0);
        assert!(covering.covers(&scanned()) && covering.describes(&TURN));
        let masked = mask_turn(&TURN, &covering, &MaskPolicy::default()).unwrap();
        assert_eq!(masked.user_message, "[UNSCANNED]");
        assert_eq!(masked.assistant_answer, "");
        assert_eq!(masked.tool_calls.as_deref(), Some("\"[UNSCANNED]\""));
        assert_eq!(masked.metadata, "{\"masked\":\"[UNSCANNED]\"}");
        let widened = scanned().widened_by(&covering);
        let masked = mask_turn(&TURN, &widened, &MaskPolicy::default()).unwrap();
        assert_eq!(masked.user_message, "[UNSCANNED]");
    }
}
