//! Calls that take no body.

use serde_json::json;
use throughline_api::route_list;

use crate::service::{Service, call, get, service};

const SOME_ID: &str = "01HF7YAT000000000000000008";

/// Every call that changes something and whose description has no body.
async fn without_a_body(service: &Service, user: &str) -> Vec<(String, String)> {
    let document = service.call(get("/openapi.json")).await.json();
    let mut calls = Vec::new();
    for route in route_list()
        .into_iter()
        .filter(|route| route.method != "GET")
    {
        let method = route.method.as_str();
        let described = &document["paths"][route.path][method.to_lowercase()];
        if described["requestBody"].is_null() {
            let path = route
                .path
                .replace("{tenant}", "acme")
                .replace("{job}", "gc");
            let path = path.replace("{user_id}", user);
            let segments = path.split('/').map(|segment| match segment {
                segment if segment.starts_with('{') => SOME_ID,
                segment => segment,
            });
            calls.push((method.to_owned(), segments.collect::<Vec<_>>().join("/")));
        }
    }
    calls
}

/// `{"dry_run": true}` where nobody reads it would delete what was only to be counted.
#[tokio::test]
async fn a_call_that_takes_no_body_refuses_one_and_does_nothing() {
    let service = service().await;
    let user = service.said("k1", "hello").await;
    let calls = without_a_body(&service, &user).await;
    assert!(calls.len() >= 8, "{calls:?}");
    for (method, path) in calls {
        let bodies = [r#"{"dry_run":true}"#.to_owned(), " ".repeat(1_000)];
        for body in bodies {
            let call = call(&method, &path).key(&service.operator).body(body);
            let answer = service.call(call).await;
            assert_eq!(
                answer.problem(),
                (422, "invalid_request".to_owned()),
                "{method} {path}"
            );
        }
    }
    let still = call("GET", &format!("/v1/tenants/acme/users/{user}")).key(&service.operator);
    service.call(still).await.assert_status(200);
    for nothing in ["", " ", "{}"] {
        let run = call("POST", "/admin/jobs/gc/run?dry_run=true").key(&service.operator);
        service.call(run.body(nothing)).await.assert_status(200);
    }
}

#[tokio::test]
async fn a_rule_of_the_wrong_type_is_told_what_to_send() {
    let service = service().await;
    for (rules, wanted) in [
        (
            json!({"ttl_days": -1}),
            "a whole number that is not negative",
        ),
        (
            json!({"turn_cap": "x"}),
            "a whole number that is not negative",
        ),
        (json!({"auto_merge_on_email": "yes"}), "a boolean"),
        (json!({"redaction_mode": "never"}), "`inline`"),
    ] {
        let body = json!({ "config": rules });
        let call = call("PATCH", "/admin/tenants/acme").key(&service.operator);
        let answer = service.call(call.json(&body)).await;
        answer.assert_problem(422, "invalid_config");
        assert!(answer.text().contains(wanted), "{}", answer.text());
    }
}
