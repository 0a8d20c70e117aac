//! `throughline bench` for a second each: for what it checks, not for its figures.

use serde_json::Value;
use throughline_tests::throughline_command;

fn measured(scenario: &str) -> Value {
    let arguments = ["bench", scenario, "--seconds", "1", "--json"];
    let output = throughline_command(&arguments)
        .output()
        .expect("the binary can be started");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{scenario}: {stderr}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Every series measured something, and what was acknowledged was found.
fn assert_measured(scenario: &str, appends: bool) {
    let report = measured(scenario);
    assert_eq!(report["scenario"], scenario);
    let series = report["series"].as_array().unwrap();
    assert!(series.len() > 1, "{report}");
    for series in series {
        assert!(series["per_second"].as_f64() > Some(0.0), "{series}");
    }
    assert_eq!(report["checked"].as_u64() > Some(0), appends, "{report}");
}

#[test]
fn append_finds_everything_it_acknowledged() {
    assert_measured("append", true);
}

#[test]
fn hot_user_finds_everything_it_acknowledged() {
    assert_measured("hot-user", true);
}

#[test]
fn recent_reads_what_was_filled_in() {
    assert_measured("recent", false);
}

#[test]
fn mixed_finds_everything_it_acknowledged() {
    assert_measured("mixed", true);
}

#[test]
fn noisy_neighbour_finds_everything_it_acknowledged() {
    assert_measured("noisy-neighbour", true);
}

#[test]
fn growth_finds_everything_it_acknowledged() {
    assert_measured("growth", true);
}

#[test]
fn gc_deletes_exactly_what_has_ended_and_keeps_what_it_acknowledged() {
    assert_measured("gc", true);
}
