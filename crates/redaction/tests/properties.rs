//! Promises that hold for every text. `PROPTEST_CASES=200000 cargo test --release` runs them long.

use std::sync::LazyLock;

use proptest::prelude::*;
use throughline_redaction::{
    Detector, Entity, Field, MaskPolicy, MaskStyle, RedactionMetadata, TurnContent, mask_text,
    mask_turn,
};

static DETECTOR: LazyLock<Detector> = LazyLock::new(Detector::default);

/// Pieces that rules look for, and pieces that mislead them.
const PIECES: &[&str] = &[
    "jo@example.com",
    "a.b+c@sub.example.co.uk",
    "+44 20 7946 0958",
    "(201) 555-0123",
    "455 6186",
    "020 7946 0958",
    "4111 1111 1111 1111",
    "4111111111111111",
    "DE89 3704 0044 0532 0130 00",
    "536-90-4399",
    "536904399",
    "912-70-1234",
    "203.0.113.7",
    "2001:db8::8a2e",
    "b4:3e:bf:78:84:2e",
    "https://example.com/a?b=c",
    "example.org",
    "x://u:pw1234@h/",
    "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2",
    "phone",
    "call",
    "card",
    "ssn",
    "order",
    "ticket",
    "version",
    "password=",
    "my password is ",
    "token: ",
    "Tr0ub4dor&3",
    "q8Zr4TnV1xLw7PbC2dYk",
    "Bearer ",
    "%40",
    "@",
    ".",
    ",",
    ":",
    "/",
    "(",
    ")",
    "-",
    "+",
    "\"",
    "'",
    "\\n",
    "{\"a\":\"",
    "\"}",
    "[EMAIL]",
    "[PHONE_2]",
    "***",
    "\u{200b}",
    "\u{ad}",
    "\u{ff11}\u{ff12}\u{ff13}",
    "\u{661}\u{662}",
    "電話",
    "ß",
    "é",
    "👩\u{200d}👧",
    "\n",
    " ",
    " ",
    " ",
    "12",
    "2024-01-31",
    "x12",
    "ext. 7",
];

fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => proptest::sample::select(PIECES).prop_map(str::to_owned),
        1 => "[0-9 ().+-]{1,14}",
        1 => "[a-zA-Z0-9@._:/=-]{1,12}",
        1 => any::<char>().prop_map(String::from),
    ];
    proptest::collection::vec(piece, 0..14).prop_map(|pieces| pieces.concat())
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![3 => pieces(), 1 => any::<String>(), 1 => "\\PC{0,60}"]
}

fn json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        text().prop_map(serde_json::Value::from),
        any::<i64>().prop_map(serde_json::Value::from),
        Just(serde_json::json!(4_111_111_111_111_111_u64)),
        Just(serde_json::Value::Null),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let name = prop_oneof![
            text(),
            Just("password".to_owned()),
            Just("phone".to_owned())
        ];
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(serde_json::Value::from),
            proptest::collection::vec((name, inner.clone()), 0..4)
                .prop_map(|fields| serde_json::Value::Object(fields.into_iter().collect())),
            inner.prop_map(|value| serde_json::Value::from(value.to_string())),
        ]
    })
}

proptest! {
    #[test]
    fn spans_lie_on_boundaries_inside_the_text_and_in_order(text in text()) {
        let spans = DETECTOR.scan_text(&text);
        for span in &spans {
            prop_assert!(span.start < span.end && span.end <= text.len());
            prop_assert!(text.is_char_boundary(span.start) && text.is_char_boundary(span.end));
            prop_assert!((0.0..=1.0).contains(&span.score));
        }
        prop_assert!(spans.is_sorted_by_key(|span| span.start));
        prop_assert_eq!(spans, DETECTOR.scan_text(&text));
    }

    #[test]
    fn spans_of_one_type_never_overlap(text in text()) {
        let mut ends = std::collections::HashMap::new();
        for span in DETECTOR.scan_text(&text) {
            let end = ends.entry(span.entity).or_insert(0);
            prop_assert!(span.start >= *end);
            *end = span.end;
        }
    }

    #[test]
    fn masking_twice_changes_nothing(text in text()) {
        let policy = MaskPolicy::default();
        let once = mask_text(&text, &DETECTOR.scan_text(&text), &policy).unwrap();
        let twice = mask_text(&once, &DETECTOR.scan_text(&once), &policy).unwrap();
        prop_assert_eq!(once, twice);
    }

    #[test]
    fn masked_text_scanned_again_yields_no_span_of_a_masked_type(text in text()) {
        for style in [MaskStyle::Label, MaskStyle::Numbered { key: vec![7; 16] }] {
            let policy = MaskPolicy::default().styled(style);
            let masked = mask_text(&text, &DETECTOR.scan_text(&text), &policy).unwrap();
            let left: Vec<_> = DETECTOR.scan_text(&masked).into_iter()
                .filter(|span| policy.masks(span.entity, span.score))
                .collect();
            prop_assert!(left.is_empty(), "{:?} became {:?} and holds {:?}", text, masked, left);
        }
    }

    #[test]
    fn folding_never_moves_a_span_off_its_characters(
        text in "[a-z \u{e9}\u{96fb}]{0,8}",
        hidden in proptest::collection::vec(proptest::sample::select(&['\u{200b}', '\u{ad}', '\u{2060}', '\u{feff}'][..]), 0..4),
        at in proptest::collection::vec(1_usize..15, 4),
        wide in any::<bool>(),
    ) {
        let mut number: Vec<char> = "+44 20 7946 0958".chars().collect();
        if wide {
            for ch in &mut number {
                if ('!'..='~').contains(ch) {
                    *ch = char::from_u32(*ch as u32 + 0xFEE0).unwrap();
                }
            }
        }
        for (hidden, at) in hidden.iter().zip(&at) {
            number.insert(*at, *hidden);
        }
        let number: String = number.into_iter().collect();
        let whole = format!("{text} {number} {text}");
        let spans = DETECTOR.scan_text(&whole);
        let phone = spans.iter().find(|span| span.entity == Entity::Phone).unwrap();
        prop_assert_eq!(&whole[phone.start..phone.end], number.as_str());
    }

    #[test]
    fn a_turn_of_any_json_can_be_scanned_stored_and_masked(user in text(), tools in json(), meta in json()) {
        let (tools, meta) = (tools.to_string(), meta.to_string());
        let turn = TurnContent { user_message: &user, assistant_answer: &user, tool_calls: Some(&tools), metadata: &meta };
        let scan = DETECTOR.scan_turn(&turn);
        let clean = scan.is_clean();
        let stored = serde_json::to_string(&scan.into_metadata(DETECTOR.identity(), 1)).unwrap();
        let stored: RedactionMetadata = serde_json::from_str(&stored).unwrap();
        prop_assert!(stored.describes(&turn) && stored.covers(&stored));
        let masked = mask_turn(&turn, &stored, &MaskPolicy::default()).unwrap();
        prop_assert!(serde_json::from_str::<serde_json::Value>(&masked.metadata).is_ok());
        if clean {
            prop_assert_eq!(masked.tool_calls.as_deref(), Some(tools.as_str()));
        }
    }

    #[test]
    fn json_text_that_is_none_is_covered_and_never_shown(text in text()) {
        let turn = TurnContent { user_message: "", assistant_answer: "", tool_calls: Some(&text), metadata: "{}" };
        let stored = DETECTOR.scan_turn(&turn).into_metadata(DETECTOR.identity(), 1);
        let masked = mask_turn(&turn, &stored, &MaskPolicy::default()).unwrap().tool_calls.unwrap();
        let broken = !text.trim().is_empty() && serde_json::from_str::<serde_json::Value>(&text).is_err();
        prop_assert!(!broken || masked == "\"[UNSCANNED]\"");
        prop_assert!(!broken || stored.spans.iter().all(|span| span.field == Field::ToolCalls && span.whole));
    }

    #[test]
    fn spans_of_any_other_text_are_refused_or_fit(one in text(), other in text()) {
        let spans = DETECTOR.scan_text(&one);
        let fit = spans.iter().all(|span| other.is_char_boundary(span.start) && other.is_char_boundary(span.end));
        let masked = mask_text(&other, &spans, &MaskPolicy::default());
        prop_assert_eq!(masked.is_ok(), fit);
    }
}
