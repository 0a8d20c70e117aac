//! What the rules' own tests say in one line.

use std::sync::LazyLock;

use crate::{Detector, Entity, TurnContent};

pub(crate) static DETECTOR: LazyLock<Detector> = LazyLock::new(Detector::default);

/// Asserts that `text` holds a span of this type over exactly `expected`.
#[track_caller]
pub(crate) fn finds(text: &str, entity: &str, expected: &str) {
    let spans: Vec<(&str, &str)> = DETECTOR
        .scan_text(text)
        .iter()
        .map(|span| (span.entity.name(), &text[span.start..span.end]))
        .collect();
    assert!(
        spans.contains(&(entity, expected)),
        "{text:?}: wanted {entity} {expected:?}, got {spans:?}"
    );
}

/// The types found in `text`.
pub(crate) fn types(text: &str) -> Vec<String> {
    DETECTOR
        .scan_text(text)
        .iter()
        .map(|span| span.entity.to_string())
        .collect()
}

/// Asserts that nothing at all is found.
#[track_caller]
pub(crate) fn nothing(text: &str) {
    let spans: Vec<(&str, &str)> = DETECTOR
        .scan_text(text)
        .iter()
        .map(|span| (span.rule, &text[span.start..span.end]))
        .collect();
    assert!(spans.is_empty(), "{text:?}: wanted nothing, got {spans:?}");
}

/// Whether this rule finds something, in plain text or in a JSON field.
fn fires(rule: &str, text: &str) -> bool {
    let turn = TurnContent {
        user_message: text,
        assistant_answer: "",
        tool_calls: None,
        metadata: text,
    };
    let spans = DETECTOR.scan_turn(&turn).spans;
    let json = text.starts_with('{');
    spans
        .iter()
        .any(|found| found.span.rule == rule && (json || found.pointer.is_none()))
}

#[test]
fn every_rule_finds_its_example_and_leaves_the_other_alone() {
    for rule in crate::RULES {
        let (matching, rejected) = (rule.matching_example(), rule.rejected_example());
        assert!(
            fires(rule.id, &matching),
            "{}: nothing in {matching:?}",
            rule.id
        );
        assert!(
            !fires(rule.id, &rejected),
            "{}: something in {rejected:?}",
            rule.id
        );
        assert_ne!(matching, rejected);
    }
}

#[test]
fn rule_ids_are_unique_and_every_entity_has_a_rule() {
    let mut ids: Vec<_> = crate::RULES.iter().map(|rule| rule.id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), crate::RULES.len());
    for entity in Entity::ALL {
        assert!(
            crate::RULES.iter().any(|rule| rule.entity == entity),
            "{entity} has no rule"
        );
    }
}
