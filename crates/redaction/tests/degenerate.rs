//! No text of a megabyte takes long. Debug builds get a smaller text and the same promise.

use std::time::{Duration, Instant};

use throughline_redaction::{Detector, TurnContent, degenerate_texts};

/// A megabyte in release builds; a debug build is some thirty times slower.
const SIZE: usize = if cfg!(debug_assertions) {
    1 << 15
} else {
    1 << 20
};
const LIMIT: Duration = Duration::from_millis(500);

/// The fastest of a few runs: a busy machine does not fail the test, slow code does.
fn fastest(limit: Duration, mut run: impl FnMut()) -> Duration {
    let mut best = Duration::MAX;
    for _ in 0..6 {
        let begun = Instant::now();
        run();
        best = best.min(begun.elapsed());
        if best <= limit {
            break;
        }
    }
    best
}

#[test]
fn every_degenerate_text_is_scanned_within_half_a_second() {
    let detector = Detector::default();
    for (name, text) in degenerate_texts(SIZE) {
        let took = fastest(LIMIT, || drop(detector.scan_text(&text)));
        assert!(took <= LIMIT, "{name}: {took:?}");
    }
}

#[test]
fn degenerate_leaves_in_a_turn_are_scanned_within_a_second() {
    let detector = Detector::default();
    for (name, text) in degenerate_texts(SIZE) {
        let inner =
            serde_json::json!({ "arguments": serde_json::json!({ "to": text }).to_string() })
                .to_string();
        let turn = TurnContent {
            user_message: "",
            assistant_answer: "",
            tool_calls: Some(&inner),
            metadata: "{}",
        };
        let took = fastest(2 * LIMIT, || drop(detector.scan_turn(&turn)));
        assert!(took <= 2 * LIMIT, "{name}: {took:?}");
    }
}

#[test]
fn more_findings_than_the_limit_cover_their_leaf_whole() {
    let text = "jo@example.com ".repeat(10_001);
    let turn = TurnContent {
        user_message: &text,
        assistant_answer: "",
        tool_calls: None,
        metadata: "{}",
    };
    let scan = Detector::default().scan_turn(&turn);
    assert!(scan.limited && scan.spans.len() == 1 && scan.spans[0].whole);
}
