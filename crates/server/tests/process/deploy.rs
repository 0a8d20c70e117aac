//! What stands under deploy/ names only what the service has.

use std::collections::BTreeSet;

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
