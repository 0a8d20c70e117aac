//! The database goes and comes back.

use std::time::{Duration, Instant};

use throughline_scratch_postgres::{Server, Settings};
use throughline_tests::{
    CLIENT_SCOPES, Service, append_body, operator_key, recent_texts, tenant_client,
};

// failures.md 34 and 28
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_is_away_is_an_error_and_never_an_empty_list() {
    let postgres = Server::start(Settings::durable()).expect("a Postgres of its own");
    let url = postgres.url("postgres");
    let mut service = Service::start(&["--migrate"], &[("CCM_DATABASE_URL", &url)]);
    service.ready().await;
    let operator = service.client(&operator_key(&url));
    let acme = tenant_client(&operator, "acme", &CLIENT_SCOPES).await;
    let body = append_body("mina", "k1", "slack-user", "C1", "hello");
    let first = acme.post("/v1/tenants/acme/turns", &body).await.ok();
    let user = first["user_id"].as_str().expect("an id").to_owned();

    postgres.kill().expect("killed");
    let recent = acme
        .get(&format!("/v1/tenants/acme/users/{user}/turns"))
        .await;
    assert_eq!(
        (recent.status.as_u16(), recent.code()),
        (503, "unavailable"),
        "{recent:?}"
    );
    assert!(recent.headers.contains_key("retry-after"));
    let again = append_body("mina", "k2", "slack-user", "C1", "there?");
    let refused = acme.post("/v1/tenants/acme/turns", &again).await;
    assert_eq!(
        (refused.status.as_u16(), refused.code()),
        (503, "unavailable"),
        "{refused:?}"
    );
    assert_eq!(acme.get("/readyz").await.status, 503);
    assert_eq!(acme.get("/livez").await.status, 200);

    postgres.restart().expect("comes back");
    let back = Instant::now();
    loop {
        let answer = acme.post("/v1/tenants/acme/turns", &again).await;
        if answer.status.is_success() {
            break;
        }
        assert!(back.elapsed() < Duration::from_secs(5), "{answer:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(
        recent_texts(&acme, "acme", &user).await,
        ["there?", "hello"]
    );
}

//
#[tokio::test]
async fn a_service_that_starts_before_its_database_comes_up_with_it() {
    let postgres = Server::start(Settings::durable()).expect("a Postgres of its own");
    let url = postgres.url("postgres");
    throughline_tests::throughline(&["migrate"], &[("CCM_DATABASE_URL", &url)]).succeeded();
    postgres.kill().expect("killed");
    let mut service = Service::start(&[], &[("CCM_DATABASE_URL", &url)]);
    let client = service.client("");
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        match client.call(http::Method::GET, "/readyz", None).await {
            Ok(answer) => {
                assert_eq!(answer.status, 503, "{answer:?}");
                break;
            }
            Err(_) => assert!(Instant::now() < deadline, "{}", service.log()),
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    postgres.restart().expect("comes back");
    service.ready().await;
}
