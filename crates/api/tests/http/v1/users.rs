//! `/v1/tenants/{tenant}/users/{user_id}`

use serde_json::{Value, json};
use throughline_tenancy::Scope;

use crate::service::{append_body, call, service};

#[tokio::test]
async fn a_user_is_shown_with_identities_and_usage() {
    let service = service().await;
    let reference = json!({"kind": "teams-aad", "id": "T1", "display_name": "Mina",
                           "email": "mina@example.org", "email_verified": true});
    let resolved = service
        .post(
            "/v1/tenants/acme/identities/resolve",
            &json!({"ref": reference}),
        )
        .await;
    let user = resolved.json()["user_id"].as_str().unwrap().to_owned();
    let mut body = append_body("k", "Zürich 🚆");
    body["ref"] = json!({"kind": "teams-aad", "id": "T1"});
    service.append(&body).await.assert_status(201);
    let shown = service.get(&format!("/v1/tenants/acme/users/{user}")).await;
    let seen_at = "2023-11-14T22:13:20.000000Z";
    assert_eq!(
        shown.json(),
        json!({
            "user_id": user, "status": "active", "merged_user_ids": [],
            "turn_count": 1, "byte_count": 14,
            "identities": [{
                "kind": "teams-aad", "id": "T1", "display_name": "Mina", "email": "mina@example.org",
                "email_verified": true, "first_seen_at": seen_at, "last_seen_at": seen_at,
                "claim_source": "system",
            }],
        })
    );
}

#[tokio::test]
async fn an_unknown_user_is_not_found() {
    let service = service().await;
    let path = "/v1/tenants/acme/users/01J0000000000000000000000A";
    service.get(path).await.assert_problem(404, "unknown_user");
}

// failures.md 13: appending lets one name a person, not describe them.
#[tokio::test]
async fn a_key_that_only_appends_changes_nothing_known_of_a_person() {
    let service = service().await;
    let writer = service.mint("acme", &[Scope::TurnsWrite]).await;
    let mut body = append_body("k", "hi");
    body["ref"]["email"] = json!("mallory@example.org");
    body["ref"]["email_verified"] = json!(true);
    let append = |key: &str, body: &Value| {
        let append = call("POST", "/v1/tenants/acme/turns");
        append.key(key).json(body)
    };
    let answer = service.call(append(&writer, &body)).await;
    answer.assert_status(201);
    let path = format!(
        "/v1/tenants/acme/users/{}",
        answer.json()["user_id"].as_str().unwrap()
    );
    let identity = service.get(&path).await.json()["identities"][0].clone();
    assert_eq!(
        (identity["id"].clone(), identity.get("email")),
        (json!("U1"), None)
    );

    body["client_message_id"] = json!("k2");
    service
        .call(append(&service.key, &body))
        .await
        .assert_status(201);
    let identity = service.get(&path).await.json()["identities"][0].clone();
    assert_eq!(identity["email"], "mallory@example.org");
}
