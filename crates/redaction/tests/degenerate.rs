//! No text of a megabyte takes long. Time is what this thread spent on the processor: what else the
//! machine does decides nothing. The promise itself, half a second of a megabyte, holds for release
//! builds; a debug build gets a smaller text and room, and finds what is not linear all the same.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use throughline_redaction::{Detector, TurnContent, degenerate_texts};

const SIZE: usize = if cfg!(debug_assertions) {
    1 << 15
} else {
    1 << 20
};
/// A debug build is some thirty times slower than a release build, for a text of a thirtieth.
const LIMIT: Duration = Duration::from_millis(if cfg!(debug_assertions) { 3_000 } else { 500 });

fn on_processor() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::from_secs(time.tv_sec.unsigned_abs())
        + Duration::from_nanos(time.tv_nsec.unsigned_abs())
}

/// The faster of three runs: the first one also warms the caches.
fn fastest(mut run: impl FnMut()) -> Duration {
    let timed = (0..3).map(|_| {
        let begun = on_processor();
        run();
        on_processor().saturating_sub(begun)
    });
    timed.min().expect("three runs have a fastest")
}

#[test]
fn every_degenerate_text_is_scanned_within_half_a_second() {
    let detector = Detector::default();
    for (name, text) in degenerate_texts(SIZE) {
        let took = fastest(|| drop(detector.scan_text(&text)));
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
        let took = fastest(|| drop(detector.scan_turn(&turn)));
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
