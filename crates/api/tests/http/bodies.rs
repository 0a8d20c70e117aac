//! Calls that take no body.

use serde_json::json;

use crate::service::{append_body, call, service};

const SOME_ID: &str = "01HF7YAT000000000000000008";

/// `{"dry_run": true}` where nobody reads it would delete what was only to be counted.
#[tokio::test]
async fn a_call_that_takes_no_body_refuses_one_and_does_nothing() {
    let service = service().await;
    let stored = service.append(&append_body("k1", "hello")).await.json();
    let user = stored["user_id"].as_str().expect("an id");
    for (method, path) in [
        ("DELETE", format!("/v1/tenants/acme/users/{user}")),
        ("DELETE", format!("/v1/tenants/acme/merges/{SOME_ID}")),
        (
            "DELETE",
            "/v1/tenants/acme/history?channel_kind=custom&channel_scope=c".to_owned(),
        ),
        ("DELETE", format!("/admin/tenants/acme/keys/{SOME_ID}")),
        ("DELETE", format!("/admin/operators/keys/{SOME_ID}")),
        ("DELETE", format!("/admin/tenants/acme/outbox/{SOME_ID}")),
        (
            "POST",
            format!("/admin/tenants/acme/outbox/{SOME_ID}/requeue"),
        ),
        ("POST", "/admin/jobs/gc/run".to_owned()),
    ] {
        let bodies = [r#"{"dry_run":true}"#.to_owned(), " ".repeat(1_000)];
        for body in bodies {
            let call = call(method, &path).key(&service.operator).body(body);
            let answer = service.call(call).await;
            answer.assert_problem(422, "invalid_request");
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
