//! `/admin/tenants/{tenant}/keys` and `/admin/operators/keys`

use serde_json::{Value, json};

use crate::service::{Answer, Service, call, get, service};

const KEYS: &str = "/admin/tenants/acme/keys";
const OPERATORS: &str = "/admin/operators/keys";

async fn mint(service: &Service, path: &str, body: &Value) -> Answer {
    service
        .call(call("POST", path).key(&service.operator).json(body))
        .await
}

#[tokio::test]
async fn a_new_key_works_at_once_and_is_never_shown_again() {
    let service = service().await;
    let body = json!({"label": "desk", "scopes": ["turns:read", "turns:read"]});
    let minted = mint(&service, KEYS, &body).await;
    minted.assert_status(201);
    let minted = minted.json();
    let key = minted["key"].as_str().unwrap();
    let expected = json!({
        "key_id": minted["key_id"], "label": "desk", "scopes": ["turns:read"],
        "created_at": "2023-11-14T22:13:20.000000Z",
    });
    let path = "/v1/tenants/acme/users/01J0000000000000000000000A/turns";
    service.call(get(path).key(key)).await.assert_status(200);
    let list = service.call(get(KEYS).key(&service.operator)).await;
    assert_eq!(
        list.json()["keys"].as_array().unwrap().last(),
        Some(&expected)
    );
    let secret = key.rsplit(':').next().unwrap();
    assert!(!list.text().contains(secret));
}

#[tokio::test]
async fn a_key_needs_known_scopes_and_a_short_label() {
    let service = service().await;
    for (body, status, code, pointer) in [
        (json!({}), 422, "invalid_request", ""),
        (json!({"scopes": []}), 422, "invalid_request", "/scopes"),
        (
            json!({"scopes": ["turns:*"]}),
            422,
            "invalid_request",
            "/scopes/0",
        ),
        (
            json!({"scopes": ["turns:read"], "label": "x".repeat(129)}),
            413,
            "payload_too_large",
            "/label",
        ),
    ] {
        let answer = mint(&service, KEYS, &body).await;
        answer.assert_problem(status, code);
        assert_eq!(answer.json()["pointer"], pointer, "{body}");
    }
    let unknown = mint(
        &service,
        "/admin/tenants/nobody/keys",
        &json!({"scopes": ["turns:read"]}),
    )
    .await;
    unknown.assert_problem(404, "unknown_tenant");
}

#[tokio::test]
async fn an_operators_key_names_its_actor() {
    let service = service().await;
    let minted = mint(&service, OPERATORS, &json!({"actor": "nils"})).await;
    minted.assert_status(201);
    let minted = minted.json();
    assert_eq!(minted["actor"], "nils");
    let list = service
        .call(get(OPERATORS).key(minted["key"].as_str().unwrap()))
        .await;
    let actors: Vec<Value> = list.json()["keys"]
        .as_array()
        .unwrap()
        .iter()
        .map(|key| key["actor"].clone())
        .collect();
    assert_eq!(actors, ["olga", "nils"]);
    for actor in ["", " "] {
        let refused = mint(&service, OPERATORS, &json!({"actor": actor})).await;
        refused.assert_problem(422, "invalid_request");
    }
}

#[tokio::test]
async fn a_key_of_another_tenant_or_of_nobody_is_not_revoked() {
    let service = service().await;
    let body = json!({"scopes": ["turns:read"]});
    let theirs = mint(&service, "/admin/tenants/acme-corp/keys", &body)
        .await
        .json();
    let id = theirs["key_id"].as_str().unwrap();
    for path in [
        format!("{KEYS}/{id}"),
        format!("{KEYS}/01J0000000000000000000000A"),
        format!("{OPERATORS}/{id}"),
    ] {
        let answer = service
            .call(call("DELETE", &path).key(&service.operator))
            .await;
        answer.assert_problem(404, "unknown_key");
    }
    let path = "/v1/tenants/acme-corp/users/01J0000000000000000000000A/turns";
    service
        .call(get(path).key(theirs["key"].as_str().unwrap()))
        .await
        .assert_status(200);
}
