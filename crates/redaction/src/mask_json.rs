//! Masks over a whole turn: two texts and two JSON fields, by pointer.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value, json};

use crate::Entity;
use crate::json::push_step;
use crate::mask::{Cut, InvalidSpans, MaskPolicy, Masker};
use crate::metadata::{RedactionMetadata, StoredSpan};
use crate::nested::{BareNumber, bare_numbers, may_be_json};
use crate::scan::{Field, TurnContent};

/// A turn as a default reader may see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaskedTurn {
    /// The masked text.
    pub user_message: String,
    /// The masked text.
    pub assistant_answer: String,
    /// Masked JSON text.
    pub tool_calls: Option<String>,
    /// Masked JSON text.
    pub metadata: String,
    /// How many masks of each entity were made.
    pub counts: BTreeMap<Entity, usize>,
}

/// Applies stored spans to the content they were found in.
///
/// The caller decides whether to pay for [`RedactionMetadata::describes`]; here only what would show
/// a wrong stretch is refused: offsets that do not fit and pointers that lead nowhere.
pub fn mask_turn(
    content: &TurnContent<'_>,
    metadata: &RedactionMetadata,
    policy: &MaskPolicy,
) -> Result<MaskedTurn, InvalidSpans> {
    let mut masker = Masker::new(policy);
    let spans = metadata.spans.as_slice();
    let user_message = text(&mut masker, spans, Field::UserMessage, content.user_message)?;
    let assistant_answer = text(
        &mut masker,
        spans,
        Field::AssistantAnswer,
        content.assistant_answer,
    )?;
    let tool_calls = match content.tool_calls {
        Some(document) => Some(self::document(
            &mut masker,
            spans,
            Field::ToolCalls,
            document,
        )?),
        None if spans.iter().any(|span| span.field == Field::ToolCalls) => {
            return Err(InvalidSpans);
        }
        None => None,
    };
    let metadata = self::document(&mut masker, spans, Field::Metadata, content.metadata)?;
    let made = Entity::ALL
        .into_iter()
        .zip(masker.counts)
        .filter(|(_, count)| *count > 0);
    Ok(MaskedTurn {
        user_message,
        assistant_answer,
        tool_calls,
        metadata,
        counts: made.collect(),
    })
}

fn text(
    masker: &mut Masker<'_>,
    spans: &[StoredSpan],
    field: Field,
    text: &str,
) -> Result<String, InvalidSpans> {
    let mine = spans.iter().filter(|span| span.field == field);
    masker.text(text, mine.map(cut).collect())
}

fn cut(span: &StoredSpan) -> Cut {
    Cut {
        start: span.start,
        end: span.end,
        entity: span.entity,
        score: span.score,
    }
}

/// Spans by pointer: those in the value there, and those in the key.
#[derive(Default)]
struct Places<'s> {
    values: HashMap<String, Vec<&'s StoredSpan>>,
    keys: HashMap<String, Vec<&'s StoredSpan>>,
}

impl Places<'_> {
    fn is_empty(&self) -> bool {
        self.values.is_empty() && self.keys.is_empty()
    }
}

fn document(
    masker: &mut Masker<'_>,
    spans: &[StoredSpan],
    field: Field,
    document: &str,
) -> Result<String, InvalidSpans> {
    let mut places = Places::default();
    for span in spans.iter().filter(|span| span.field == field) {
        let pointer = span.ptr.as_deref().ok_or(InvalidSpans)?;
        let side = if span.key {
            &mut places.keys
        } else {
            &mut places.values
        };
        side.entry(pointer.to_owned()).or_default().push(span);
    }
    if places.is_empty() {
        return Ok(document.to_owned());
    }
    // A document that could not be parsed has one span over its root.
    if let Some(whole) = whole(places.values.get("")) {
        let label = Value::String(masker.mask(whole.entity, document));
        return Ok(match field {
            // Readers count on an object.
            Field::Metadata => json!({ "masked": label }).to_string(),
            _ => label.to_string(),
        });
    }
    let value = serde_json::from_str(document).map_err(|_| InvalidSpans)?;
    let shown = walk(masker, &mut places, &mut String::new(), value)?;
    // What is left was found somewhere that this document does not have.
    if places.is_empty() {
        Ok(shown.to_string())
    } else {
        Err(InvalidSpans)
    }
}

fn whole<'s>(spans: Option<&Vec<&'s StoredSpan>>) -> Option<&'s StoredSpan> {
    spans?.iter().find(|span| span.whole).copied()
}

fn walk(
    masker: &mut Masker<'_>,
    places: &mut Places<'_>,
    pointer: &mut String,
    value: Value,
) -> Result<Value, InvalidSpans> {
    let here = places.values.remove(pointer.as_str());
    if let Some(whole) = whole(here.as_ref()) {
        if !masker.policy().masks(whole.entity, whole.score) {
            return Ok(value);
        }
        let plain = if let Value::String(text) = &value {
            text.clone()
        } else {
            value.to_string()
        };
        return Ok(Value::String(masker.mask(whole.entity, &plain)));
    }
    match (value, here) {
        (Value::String(text), Some(spans)) => Ok(Value::String(leaf(masker, &text, &spans)?)),
        (Value::Number(number), Some(spans)) => {
            let text = number.to_string();
            let shown = leaf(masker, &text, &spans)?;
            Ok(if shown == text {
                Value::Number(number)
            } else {
                Value::String(shown)
            })
        }
        (_, Some(_)) => Err(InvalidSpans),
        (Value::Array(items), None) => {
            let items = items
                .into_iter()
                .enumerate()
                .map(|(index, item)| below(masker, places, pointer, index, item));
            Ok(Value::Array(items.collect::<Result<_, _>>()?))
        }
        (Value::Object(fields), None) => object(masker, places, pointer, fields),
        (value, None) => Ok(value),
    }
}

fn below(
    masker: &mut Masker<'_>,
    places: &mut Places<'_>,
    pointer: &mut String,
    index: usize,
    item: Value,
) -> Result<Value, InvalidSpans> {
    let length = pointer.len();
    push_step(pointer, index);
    let shown = walk(masker, places, pointer, item);
    pointer.truncate(length);
    shown
}

fn object(
    masker: &mut Masker<'_>,
    places: &mut Places<'_>,
    pointer: &mut String,
    fields: Map<String, Value>,
) -> Result<Value, InvalidSpans> {
    let mut shown = Map::new();
    for (index, (name, item)) in fields.into_iter().enumerate() {
        let length = pointer.len();
        push_step(pointer, index);
        let spans = places.keys.remove(pointer.as_str());
        pointer.truncate(length);
        let item = below(masker, places, pointer, index, item)?;
        let name = match spans {
            Some(spans) => masker.text(&name, spans.into_iter().map(cut).collect())?,
            None => name,
        };
        // Two addresses as keys must not become one entry.
        let mut free = name.clone();
        let mut copy = 1;
        while shown.contains_key(&free) {
            copy += 1;
            free = format!("{name} #{copy}");
        }
        shown.insert(free, item);
    }
    Ok(Value::Object(shown))
}

/// A string or number with its masks.
fn leaf(
    masker: &mut Masker<'_>,
    text: &str,
    spans: &[&StoredSpan],
) -> Result<String, InvalidSpans> {
    let mut cuts = masker.merged(text, spans.iter().map(|span| cut(span)).collect())?;
    if cuts.is_empty() || !may_be_json(text) {
        return Ok(masker.render(text, &cuts, |_| None));
    }
    // A number in JSON inside the string becomes a string of that JSON, or its reader could not parse it.
    let numbers = bare_numbers(text);
    let number_around = |cut: &Cut| {
        let next = numbers.partition_point(|number| number.end <= cut.start);
        numbers
            .get(next)
            .filter(|number| number.start <= cut.start && cut.end <= number.end)
    };
    for cut in &mut cuts {
        if let Some(number) = number_around(cut) {
            (cut.start, cut.end) = (number.start, number.end);
        }
    }
    cuts.dedup_by(|later, earlier| later.start < earlier.end);
    Ok(masker.render(text, &cuts, |cut| number_around(cut).map(BareNumber::quote)))
}

#[cfg(test)]
mod tests {
    use super::mask_turn;
    use crate::testing::DETECTOR;
    use crate::{MaskPolicy, MaskStyle, MaskedTurn, TurnContent};

    fn masked(tool_calls: &str, metadata: &str) -> MaskedTurn {
        let turn = TurnContent {
            user_message: "hi",
            assistant_answer: "",
            tool_calls: Some(tool_calls),
            metadata,
        };
        let stored = DETECTOR
            .scan_turn(&turn)
            .into_metadata(DETECTOR.identity(), 0);
        let text = serde_json::to_string(&stored).unwrap();
        let stored = serde_json::from_str(&text).unwrap();
        mask_turn(&turn, &stored, &MaskPolicy::default()).unwrap()
    }

    #[test]
    fn strings_numbers_keys_and_nested_json_are_masked() {
        let inner = "{\\\"to\\\":\\\"jo@example.com\\\",\\\"card\\\":4111111111111111}";
        let turn = masked(
            &format!("[{{\"arguments\":\"{inner}\"}}]"),
            "{\"jo@example.org\":1,\"ssn\":536904399}",
        );
        assert_eq!(
            turn.tool_calls.unwrap(),
            r#"[{"arguments":"{\"to\":\"[EMAIL]\",\"card\":\"[CREDIT_CARD]\"}"}]"#
        );
        assert_eq!(turn.metadata, r#"{"[EMAIL]":1,"ssn":"[US_SSN]"}"#);
    }

    #[test]
    fn numbers_in_json_in_strings_become_strings_at_every_depth() {
        let card = "4111111111111111";
        let mut inner = format!("{{\"n\":{card},\"m\":[-{card}],\"note\":\"see [{card}, x]\"}}");
        for _ in 0..3 {
            inner = serde_json::json!({ "arguments": inner, "pan": 1 }).to_string();
        }
        for policy in [
            MaskPolicy::default(),
            MaskPolicy::default().styled(MaskStyle::SameLength),
        ] {
            let turn = TurnContent {
                user_message: "",
                assistant_answer: "",
                tool_calls: Some(&inner),
                metadata: "{}",
            };
            let spans = DETECTOR
                .scan_turn(&turn)
                .into_metadata(DETECTOR.identity(), 0);
            let mut shown = mask_turn(&turn, &spans, &policy)
                .unwrap()
                .tool_calls
                .unwrap();
            assert!(!shown.contains(card), "{shown}");
            for _ in 0..3 {
                let outer: serde_json::Value = serde_json::from_str(&shown).unwrap();
                shown = outer["arguments"].as_str().unwrap().to_owned();
            }
            let innermost: serde_json::Value = serde_json::from_str(&shown).unwrap();
            assert!(innermost["n"].is_string() && innermost["m"][0].is_string());
            assert!(innermost["note"].as_str().unwrap().starts_with("see ["));
        }
    }

    #[test]
    fn an_escaped_address_in_nested_json_is_masked() {
        let inner = r#"{\"to\":\"jo\\u0040example.com\",\"x\":1}"#;
        let turn = masked(&format!("{{\"arguments\":\"{inner}\"}}"), "{}");
        assert_eq!(
            turn.tool_calls.unwrap(),
            r#"{"arguments":"{\"to\":\"[EMAIL]\",\"x\":1}"}"#
        );
    }

    #[test]
    fn denied_names_are_covered_whole_and_two_masked_keys_stay_two() {
        let turn = masked(
            r#"{"password":"a b c","headers":{"Authorization":["x"]}}"#,
            r#"{"a@example.org":1,"b@example.org":2}"#,
        );
        assert_eq!(
            turn.tool_calls.unwrap(),
            r#"{"headers":{"Authorization":["[SECRET]"]},"password":"[SECRET]"}"#
        );
        assert_eq!(turn.metadata, r#"{"[EMAIL]":1,"[EMAIL] #2":2}"#);
    }

    #[test]
    fn json_that_cannot_be_read_or_is_too_deep_is_covered() {
        let deep = format!("{}1{}", "[".repeat(100), "]".repeat(100));
        assert!(
            masked(&deep, "{}")
                .tool_calls
                .unwrap()
                .contains("[UNSCANNED]")
        );
        assert_eq!(masked("{\"a", "{}").tool_calls.unwrap(), "\"[UNSCANNED]\"");
    }

    #[test]
    fn untouched_numbers_keep_their_digits() {
        assert_eq!(
            masked("{\"a\":1.10,\"to\":\"jo@example.com\"}", "{}")
                .tool_calls
                .unwrap(),
            "{\"a\":1.10,\"to\":\"[EMAIL]\"}"
        );
    }

    #[test]
    fn spans_whose_place_is_gone_are_refused() {
        let turn = TurnContent {
            user_message: "",
            assistant_answer: "",
            tool_calls: None,
            metadata: "{\"to\":\"jo@example.com\"}",
        };
        let stored = DETECTOR
            .scan_turn(&turn)
            .into_metadata(DETECTOR.identity(), 0);
        for metadata in ["{}", "{\"to\":1}", "{\"to\":\"jo\"}", "nonsense"] {
            let other = TurnContent { metadata, ..turn };
            assert!(
                mask_turn(&other, &stored, &MaskPolicy::default()).is_err(),
                "{metadata}"
            );
        }
    }
}
