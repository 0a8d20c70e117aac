//! What stands under deploy/ names only what the service has, and alerts when it should.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::running::{Running, ask, key};

const FILES: [&str; 2] = [
    include_str!("../../../../deploy/prometheus/alerts.yml"),
    include_str!("../../../../deploy/grafana/jobs.json"),
];

/// Every word of a text that is a metric's name, without the endings of a histogram's series.
fn metrics(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let ours = words.filter(|word| word.starts_with("ccm_") || word.starts_with("pi_"));
    ours.map(|word| {
        let endings = ["_bucket", "_sum", "_count"];
        let ending = endings.iter().find_map(|ending| word.strip_suffix(ending));
        ending.unwrap_or(word)
    })
    .collect()
}

#[test]
fn every_metric_of_an_alert_or_a_dashboard_is_there_from_the_start() {
    let (_service, address) = Running::serve_dev(&key(), &[]);
    let served = ask(&address, "GET", "/metrics", "", "").body;
    let served: BTreeSet<&str> = served
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next())
        .collect();
    let mut named = 0;
    for file in FILES {
        for metric in metrics(file) {
            assert!(served.contains(metric), "{metric} is not in /metrics");
            named += 1;
        }
    }
    assert!(named > 10, "the files name no metrics");
}

#[test]
fn every_alert_has_a_paragraph_for_whoever_is_woken() {
    let runbook = include_str!("../../../../docs/operations.md");
    let alerts: Vec<&str> = FILES[0]
        .lines()
        .filter_map(|line| line.trim().strip_prefix("- alert: "))
        .collect();
    assert!(alerts.len() > 3, "no alerts were found");
    for alert in alerts {
        assert!(
            runbook.contains(&format!("### {alert}\n")),
            "{alert} has no paragraph"
        );
    }
}

#[test]
fn a_sweep_is_asked_for_over_http() {
    let operator = format!("{}-operator", key());
    let flag = format!("--dev-operator-key={operator}");
    let (_service, address) = Running::serve_dev(&key(), &[&flag, "--jobs", "off"]);
    let path = "/admin/jobs/gc/run?dry_run=true&tenant=dev";
    let ran = ask(&address, "POST", path, &operator, "");
    assert_eq!(ran.status, 200, "{}", ran.body);
    let ran: serde_json::Value = serde_json::from_str(&ran.body).unwrap();
    assert_eq!(ran["outcome"], "done");
    assert_eq!(ran["tenants"], 1);
    assert_eq!(ask(&address, "POST", path, &key(), "").status, 403);
}

/// Runs Prometheus' own checker; `None`, and a line that says so, where there is none. `./test` gets one.
fn promtool(arguments: &[&str], input: &str) -> Option<Output> {
    let program = std::env::var_os("PROMTOOL").unwrap_or_else(|| "promtool".into());
    let rules = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/prometheus");
    let mut command = Command::new(program);
    command.args(arguments).current_dir(rules);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let Ok(mut child) = command.stderr(Stdio::piped()).spawn() else {
        println!("skipped: there is no promtool; install prometheus or set PROMTOOL");
        return None;
    };
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(input.as_bytes()).unwrap();
    drop(pipe);
    Some(child.wait_with_output().unwrap())
}

fn assert_passed(output: &Output) {
    let said = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    assert!(output.status.success(), "{}{}", said[0], said[1]);
}

//
#[test]
fn every_metric_is_named_as_prometheus_names_them() {
    let (_service, address) = Running::serve_dev(&key(), &[]);
    let served = ask(&address, "GET", "/metrics", "", "").body;
    if let Some(output) = promtool(&["check", "metrics"], &served) {
        assert_passed(&output);
    }
}

#[test]
fn the_alerts_come_when_they_should_and_only_then() {
    if let Some(output) = promtool(&["test", "rules", "alerts.test.yml"], "") {
        assert_passed(&output);
    }
}
