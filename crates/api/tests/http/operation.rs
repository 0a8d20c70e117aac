//! `/livez`, `/healthz`, `/readyz`, `/metrics`, `/ccm/metrics`.

use std::sync::Arc;

use async_trait::async_trait;
use secrecy::SecretString;
use throughline_api::{NotReady, Settings, StoreHealth};

use crate::service::{get, service, service_with};

struct Sick;

#[async_trait]
impl StoreHealth for Sick {
    async fn check(&self) -> Result<(), NotReady> {
        Err(NotReady {
            reason: "schema_behind",
            detail: "for the log only".to_owned(),
        })
    }
}

struct Hanging;

#[async_trait]
impl StoreHealth for Hanging {
    async fn check(&self) -> Result<(), NotReady> {
        std::future::pending().await
    }
}

#[tokio::test]
async fn a_process_that_stops_is_live_and_not_ready() {
    let service = service().await;
    service.call(get("/readyz")).await.assert_status(200);
    service.draining.start();
    let answer = service.call(get("/readyz")).await;
    answer.assert_problem(503, "unavailable");
    assert!(answer.text().contains("draining"));
    for path in ["/livez", "/healthz"] {
        service.call(get(path)).await.assert_status(200);
    }
}

#[tokio::test(start_paused = true)]
async fn a_store_that_cannot_serve_makes_the_process_not_ready() {
    let sick = service_with(Settings::default(), |c| c.store = Arc::new(Sick)).await;
    let answer = sick.call(get("/readyz")).await;
    answer.assert_problem(503, "unavailable");
    assert!(answer.text().contains("schema_behind") && !answer.text().contains("log only"));
    sick.call(get("/livez")).await.assert_status(200);

    let hanging = service_with(Settings::default(), |c| c.store = Arc::new(Hanging)).await;
    hanging
        .call(get("/readyz"))
        .await
        .assert_problem(503, "unavailable");
}

//
#[tokio::test]
async fn metrics_are_open_only_where_that_was_said() {
    let token: String = ["metrics", "-", "token"].concat();
    let settings = |token: Option<&str>, open| Settings {
        metrics_token: token.map(SecretString::from),
        metrics_open: open,
        ..Settings::default()
    };
    for path in ["/metrics", "/ccm/metrics"] {
        let closed = service_with(settings(None, false), |_| {}).await;
        closed
            .call(get(path))
            .await
            .assert_problem(403, "forbidden");
        closed
            .call(get(path).key(&closed.operator))
            .await
            .assert_problem(403, "forbidden");
        let open = service_with(settings(None, true), |_| {}).await;
        let answer = open.call(get(path)).await;
        answer.assert_status(200);
        assert!(answer.header("content-type").starts_with("text/plain"));

        // With a token the loopback rule is off.
        let guarded = service_with(settings(Some(&token), true), |_| {}).await;
        guarded.call(get(path).key(&token)).await.assert_status(200);
        for wrong in ["", "metrics-toke", "metrics-token2", &guarded.operator] {
            guarded
                .call(get(path).key(wrong))
                .await
                .assert_problem(401, "unauthorized");
        }
        guarded
            .call(get(path))
            .await
            .assert_problem(401, "unauthorized");
    }
}
