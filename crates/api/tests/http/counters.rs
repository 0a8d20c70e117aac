//! What `/metrics` shows.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::poll;
use serde_json::json;
use throughline_api::{Settings, route_list};

use crate::doubles::{Fault, FaultyMemory};
use crate::service::{Service, append_body, call, get, service_with};

async fn open() -> Service {
    let settings = Settings {
        metrics_open: true,
        ..Settings::default()
    };
    service_with(settings, |_| {}).await
}

async fn series(service: &Service) -> BTreeMap<String, f64> {
    let text = service.call(get("/metrics")).await.text();
    let samples = text.lines().filter(|line| !line.starts_with('#'));
    let sample = |line: &str| {
        let (name, value) = line.rsplit_once(' ').unwrap();
        (name.to_owned(), value.parse().unwrap())
    };
    samples.map(sample).collect()
}

//
#[tokio::test]
async fn every_series_stands_at_zero_before_the_first_event() {
    let series = series(&open().await).await;
    for name in [
        "ccm_appends_total{channel_kind=\"slack-user\"}",
        "ccm_appends_total{channel_kind=\"other\"}",
        "ccm_append_failures_total{stage=\"sync\"}",
        "ccm_reads_total{kind=\"getRecentByUser\"}",
        "ccm_reads_total{kind=\"getByChannelScope\"}",
        "ccm_reads_redaction_pending_total",
        "ccm_reads_raw_total",
        "ccm_redaction_scanned_turns_total",
        "ccm_redaction_scanned_bytes_total",
        "ccm_redaction_spans_total{entity=\"EMAIL\"}",
        "ccm_redaction_failures_total",
        "ccm_redaction_pending",
        "ccm_redaction_oldest_pending_seconds",
        "ccm_redaction_covered_total",
        "ccm_redaction_kept_total",
        "ccm_write_failures_total{code=\"committed\"}",
        "ccm_write_failures_total{code=\"rejected\"}",
        "ccm_write_failures_total{code=\"timeout\"}",
        "ccm_write_failures_total{code=\"transport\"}",
        "pi_resolves_total{outcome=\"new\"}",
        "pi_resolves_total{outcome=\"known\"}",
        "pi_resolves_total{outcome=\"failed\"}",
    ] {
        assert_eq!(series.get(name), Some(&0.0), "{name}");
    }
    for route in route_list() {
        let name = format!(
            "ccm_http_request_duration_seconds_count{{method=\"{}\",route=\"{}\",status=\"2xx\"}}",
            route.method, route.path
        );
        assert_eq!(series.get(&name), Some(&0.0), "{name}");
    }
}

#[tokio::test]
async fn what_happens_is_counted_once() {
    let service = open().await;
    let user = service.said("a", "hi").await;
    service
        .append(&append_body("a", "hi"))
        .await
        .assert_status(200);
    service
        .append(&append_body("a", "other"))
        .await
        .assert_status(409);
    service
        .append(&append_body("b", ""))
        .await
        .assert_status(201);
    service.append(&json!({})).await.assert_status(422);
    service
        .get(&format!("/v1/tenants/acme/users/{user}/turns"))
        .await
        .assert_status(200);
    service
        .get(&format!("/v1/tenants/acme/users/{user}/context"))
        .await
        .assert_status(200);
    let history = "/v1/tenants/acme/history?channel_kind=slack-user&channel_scope=C1";
    service.get(history).await.assert_status(200);

    let series = series(&service).await;
    for (name, value) in [
        ("ccm_appends_total{channel_kind=\"slack-user\"}", 2.0),
        ("ccm_append_failures_total{stage=\"sync\"}", 2.0),
        ("ccm_write_failures_total{code=\"rejected\"}", 2.0),
        ("ccm_reads_total{kind=\"getRecentByUser\"}", 2.0),
        ("ccm_reads_total{kind=\"getByChannelScope\"}", 1.0),
        ("pi_resolves_total{outcome=\"new\"}", 1.0),
        ("pi_resolves_total{outcome=\"known\"}", 3.0),
    ] {
        assert_eq!(series.get(name), Some(&value), "{name}");
    }
    let appends = |class: &str| {
        let route = "/v1/tenants/{tenant}/turns";
        let name = "ccm_http_request_duration_seconds_count";
        series[&format!("{name}{{method=\"POST\",route=\"{route}\",status=\"{class}\"}}")]
    };
    assert_eq!(
        (appends("2xx"), appends("4xx"), appends("5xx")),
        (3.0, 2.0, 0.0)
    );
}

// what no handler sees is counted too.
#[tokio::test(start_paused = true)]
async fn appends_that_are_turned_away_or_cut_off_are_counted() {
    let settings = Settings {
        metrics_open: true,
        max_concurrency: 1,
        ..Settings::default()
    };
    let hangs = |c: &mut throughline_api::Capabilities| {
        c.memory = Arc::new(FaultyMemory(Fault::Hang));
    };
    let service = service_with(settings, hangs).await;
    let body = append_body("k", "hi");
    let mut first = Box::pin(service.append(&body));
    assert!(poll!(&mut first).is_pending());
    let away = service.append(&body).await;
    away.assert_problem(503, "overloaded");
    let batch = json!({"turns": [body.clone()]});
    let away = service.post("/v1/tenants/acme/turns/batch", &batch).await;
    away.assert_problem(503, "overloaded");
    // A read is no write.
    let history = "/v1/tenants/acme/history?channel_kind=slack-user&channel_scope=C1";
    service.get(history).await.assert_problem(503, "overloaded");
    first.await.assert_problem(503, "unavailable");
    let series = series(&service).await;
    for (name, value) in [
        ("ccm_write_failures_total{code=\"transport\"}", 2.0),
        ("ccm_write_failures_total{code=\"timeout\"}", 1.0),
        ("ccm_append_failures_total{stage=\"sync\"}", 3.0),
    ] {
        assert_eq!(series.get(name), Some(&value), "{name}");
    }
}

// failures.md 31, T-75
#[tokio::test]
async fn ten_thousand_users_add_no_series() {
    let service = open().await;
    let before = series(&service).await.len();
    for page in 0..50 {
        let turn = |n: u32| {
            let mut turn = append_body(&format!("k{page}-{n}"), "hi");
            turn["ref"]["id"] = json!(format!("user-{page}-{n}"));
            turn["channel_scope"] = json!(format!("scope-{page}-{n}"));
            turn
        };
        let turns: Vec<_> = (0..200).map(turn).collect();
        let answer = service
            .post("/v1/tenants/acme/turns/batch", &json!({ "turns": turns }))
            .await;
        answer.assert_status(200);
    }
    let after = series(&service).await;
    for name in [
        "pi_resolves_total{outcome=\"new\"}",
        "ccm_appends_total{channel_kind=\"slack-user\"}",
    ] {
        assert_eq!(after.get(name), Some(&10_000.0), "{name}");
    }
    assert_eq!(after.len(), before);
}

// failures.md 31, T-75
#[tokio::test]
async fn invented_names_add_no_series() {
    let service = open().await;
    let before = series(&service).await.len();
    for n in 0..1_000 {
        let mut body = append_body(&format!("k{n}"), "hi");
        body["channel_kind"] = json!(format!("invented-{n}"));
        service.append(&body).await.assert_status(201);
    }
    for n in 0..50 {
        service
            .get(&format!("/nowhere/{n}"))
            .await
            .assert_status(404);
        service
            .call(call(&format!("X{n}"), "/livez"))
            .await
            .assert_status(405);
        service
            .get(&format!("/v1/tenants/tenant-{n}/history"))
            .await
            .assert_status(403);
    }
    let after = series(&service).await;
    assert_eq!(after.len(), before);
    assert_eq!(
        after.get("ccm_appends_total{channel_kind=\"other\"}"),
        Some(&1_000.0)
    );
}
