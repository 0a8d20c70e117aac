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

/// R-153 and T-75 under load: invented channel kinds make no series, held connections keep nobody out.
#[test]
fn a_held_load_keeps_its_rate_beside_guests_who_behave_badly() {
    let arguments = [
        "bench",
        "load",
        "--seconds",
        "4",
        "--appends",
        "40",
        "--reads",
        "40",
        "--idle",
        "300",
        "--dripping",
        "20",
        "--kinds",
        "100",
        "--json",
    ];
    let output = throughline_command(&arguments)
        .output()
        .expect("the binary can be started");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["errors"], serde_json::json!({}), "{report}");
    assert_eq!(report["more_series"], 0, "{report}");
    assert!(report["checked"].as_u64() > Some(0), "{report}");
    assert!(report["newcomers"]["calls"].as_u64() > Some(0), "{report}");
    assert!(
        report["memory_bytes"]["start"].as_f64() > Some(0.0),
        "{report}"
    );
}
