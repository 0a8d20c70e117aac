//! What is written in another alphabet's digits, in full width or with invisible characters inside is
//! found as if it were not, over exactly the characters that were written.

use throughline_redaction::{Detector, Entity};

/// Sentence before, value, sentence behind, type.
const ROWS: &[(&str, &str, &str, Entity)] = &[
    ("my number is ", "+44 20 7946 0958", " today", Entity::Phone),
    ("call ", "(201) 555-0123", ".", Entity::Phone),
    ("請撥打 ", "0121-291-1865", " 謝謝", Entity::Phone),
    (
        "{\"callback_number\":\"",
        "07400 231056",
        "\"}",
        Entity::Phone,
    ),
    (
        "the card ",
        "4111-1111-1111-1111",
        ", cvv 123",
        Entity::CreditCard,
    ),
    ("the card ", "3714 496353 98431", " exp", Entity::CreditCard),
    (
        "pay to ",
        "DE89 3704 0044 0532 0130 00",
        ". Thanks",
        Entity::Iban,
    ),
    ("my social: ", "536-90-4399", "", Entity::UsSsn),
    (
        "Employee, social security number ",
        "536.90.4399",
        ", started",
        Entity::UsSsn,
    ),
    ("from ", "203.0.113.7", " - -", Entity::Ip),
    (
        "write to ",
        "jo.doe+news@mail.example.org",
        ", please",
        Entity::Email,
    ),
    ("the NIC ", "b4-3e-bf-78-84-2e", " drops", Entity::Mac),
];

fn full_width(text: &str) -> String {
    let wide = |ch: char| match ch {
        ' ' => '\u{3000}',
        '!'..='~' => char::from_u32(ch as u32 + 0xFEE0).expect("full width has the same order"),
        _ => ch,
    };
    text.chars().map(wide).collect()
}

fn digits_from(text: &str, zero: char) -> String {
    let other = |ch: char| {
        ch.to_digit(10).map_or(ch, |value| {
            char::from_u32(zero as u32 + value).expect("ten digits in a row")
        })
    };
    text.chars().map(other).collect()
}

/// An invisible character after every third one.
fn sprinkled(text: &str, invisible: char) -> String {
    let last = text.chars().count() - 1;
    let mut changed = String::new();
    for (at, ch) in text.chars().enumerate() {
        changed.push(ch);
        if at % 3 == 1 && at < last {
            changed.push(invisible);
        }
    }
    changed
}

/// Every way to write one value.
fn mutations(value: &str, entity: Entity) -> Vec<String> {
    let mut all = vec![value.to_owned(), full_width(value)];
    // Only a number keeps its meaning in other digits; a hardware address has letters for digits.
    if !matches!(entity, Entity::Email | Entity::Mac) {
        all.extend(
            [
                '\u{660}',
                '\u{6f0}',
                '\u{966}',
                '\u{9e6}',
                '\u{e50}',
                '\u{1d7ce}',
            ]
            .map(|zero| digits_from(value, zero)),
        );
    }
    all.extend(
        [
            '\u{200b}', '\u{200d}', '\u{ad}', '\u{2060}', '\u{feff}', '\u{202a}',
        ]
        .map(|ch| sprinkled(value, ch)),
    );
    all.extend(
        ['\u{a0}', '\u{2009}', '\u{202f}'].map(|space| value.replace(' ', &space.to_string())),
    );
    all.extend(
        ['\u{2010}', '\u{2011}', '\u{2013}', '\u{2212}']
            .map(|dash| value.replace('-', &dash.to_string())),
    );
    all
}

#[test]
fn every_way_of_writing_a_value_is_found_over_exactly_its_characters() {
    let detector = Detector::default();
    for (before, value, after, entity) in ROWS {
        for mutation in mutations(value, *entity) {
            let text = format!("{before}{mutation}{after}");
            let spans = detector.scan_text(&text);
            let found: Vec<(Entity, &str)> = spans
                .iter()
                .map(|span| (span.entity, &text[span.start..span.end]))
                .collect();
            assert_eq!(found, [(*entity, mutation.as_str())], "{text:?}");
        }
    }
}

#[test]
fn emoji_sequences_and_other_scripts_are_untouched_and_clean() {
    let detector = Detector::default();
    for text in [
        "👩\u{200d}👧\u{200d}👦 ok 👍🏽",
        "नमस्ते दुनिया",
        "שלום עולם",
        "Привет, мир",
        "日本語のテキスト。",
        "1️⃣ first 2️⃣ second",
    ] {
        assert!(detector.scan_text(text).is_empty(), "{text}");
    }
}
