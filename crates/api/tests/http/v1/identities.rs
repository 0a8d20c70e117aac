//! `/v1/tenants/{tenant}/identities` and `/resolve`

use serde_json::{Value, json};

use crate::service::service;

const RESOLVE: &str = "/v1/tenants/acme/identities/resolve";

fn person(id: &str) -> Value {
    json!({"ref": {"kind": "slack-user", "id": id}})
}

#[tokio::test]
async fn a_first_sight_makes_a_user_and_later_ones_find_it() {
    let service = service().await;
    let first = service.post(RESOLVE, &person("U1")).await;
    first.assert_status(200);
    let first = first.json();
    assert_eq!(first["is_new"], true);
    let again = service.post(RESOLVE, &person("U1")).await.json();
    let known = json!({
        "user_id": first["user_id"], "account_id": first["user_id"], "is_new": false,
    });
    assert_eq!(again, known);
    let found = service
        .get("/v1/tenants/acme/identities?kind=slack-user&id=U1")
        .await;
    assert_eq!(found.json(), json!({"user_id": first["user_id"]}));
}

// failures.md 21
#[tokio::test]
async fn ids_are_opaque_and_decoded_once() {
    let service = service().await;
    let user = |id: &str| {
        let body = person(id);
        let service = &service;
        async move { service.post(RESOLVE, &body).await.json()["user_id"].clone() }
    };
    let (spaced, lower, percent) = (user("a b&c=d").await, user("u1").await, user("%41").await);
    let path = "/v1/tenants/acme/identities?kind=slack-user&id=";
    for (query, expected) in [
        ("a+b%26c%3Dd", &spaced),
        ("a%20b%26c%3dd", &spaced),
        ("u1", &lower),
        ("%2541", &percent),
    ] {
        let found = service.get(&format!("{path}{query}")).await;
        assert_eq!(found.json(), json!({"user_id": expected}), "{query}");
    }
    for unseen in ["U1", "A", "a%2520b"] {
        service
            .get(&format!("{path}{unseen}"))
            .await
            .assert_problem(404, "unknown_user");
    }
}

// failures.md 11
#[tokio::test]
async fn empty_blank_and_missing_parts_are_refused() {
    let service = service().await;
    for query in [
        "",
        "?kind=slack-user",
        "?id=U1",
        "?kind=slack-user&id=",
        "?kind=slack-user&id=%20",
        "?kind=fax&id=U1",
        "?kind=&id=U1",
        "?kind=slack-user&id=U1&id=U2",
    ] {
        let answer = service
            .get(&format!("/v1/tenants/acme/identities{query}"))
            .await;
        answer.assert_problem(422, "invalid_parameter");
    }
    for (body, pointer) in [
        (json!({}), ""),
        (json!({"ref": null}), "/ref"),
        (json!({"ref": {"kind": "slack-user", "id": " "}}), "/ref/id"),
        (json!({"ref": {"kind": "Slack", "id": "U1"}}), "/ref/kind"),
    ] {
        let answer = service.post(RESOLVE, &body).await;
        answer.assert_problem(422, "invalid_request");
        assert_eq!(answer.json()["pointer"], pointer, "{body}");
    }
}

// failures.md 9
#[tokio::test]
async fn one_ref_in_two_tenants_is_two_people() {
    let service = service().await;
    let key = service
        .mint("acme-corp", &throughline_tenancy::Scope::ALL)
        .await;
    let ours = service.post(RESOLVE, &person("U1")).await.json();
    let path = RESOLVE.replace("acme", "acme-corp");
    let call = crate::service::call("POST", &path)
        .key(&key)
        .json(&person("U1"));
    let theirs = service.call(call).await.json();
    assert_eq!(theirs["is_new"], true);
    assert_ne!(ours["user_id"], theirs["user_id"]);
}
