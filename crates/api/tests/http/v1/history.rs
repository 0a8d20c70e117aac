//! `/v1/tenants/{tenant}/history`

use serde_json::json;

use crate::service::{append_body, call, service};

const PATH: &str = "/v1/tenants/acme/history?channel_kind=slack-user&channel_scope=C1";

// T-21
#[tokio::test]
async fn one_scope_reads_from_old_to_new_whoever_spoke() {
    let service = service().await;
    for (n, user) in ["U1", "U2", "U1"].iter().enumerate() {
        let mut body = append_body(&n.to_string(), &n.to_string());
        body["ref"]["id"] = json!(user);
        service.append(&body).await.assert_status(201);
    }
    let mut other = append_body("other", "other kind, same scope");
    other["channel_kind"] = json!("telegram-chat");
    service.append(&other).await.assert_status(201);
    assert_eq!(service.get(PATH).await.messages(), ["0", "1", "2"]);
    assert_eq!(
        service.get(&format!("{PATH}&limit=2")).await.messages(),
        ["1", "2"]
    );
}

//
#[tokio::test]
async fn a_cleared_scope_starts_again_and_deletes_nothing() {
    let service = service().await;
    let user = service.said("a", "before").await;
    let cleared = service.call(call("DELETE", PATH).key(&service.key)).await;
    cleared.assert_status(204);
    assert!(cleared.body.is_empty());
    assert_eq!(
        service.get(PATH).await.json(),
        json!({"turns": [], "erasure_epoch": 0})
    );
    service.said("b", "after").await;
    assert_eq!(service.get(PATH).await.messages(), ["after"]);
    let recent = service
        .get(&format!("/v1/tenants/acme/users/{user}/turns"))
        .await;
    assert_eq!(recent.messages(), ["after", "before"]);
}

// failures.md 11, 12: a scope that is not named must not be every scope.
#[tokio::test]
async fn a_scope_must_be_named_in_full() {
    let service = service().await;
    service.said("a", "kept").await;
    for query in [
        "",
        "?channel_kind=slack-user",
        "?channel_scope=C1",
        "?channel_kind=&channel_scope=C1",
        "?channel_kind=slack-user&channel_scope=",
        "?channel_kind=slack-user&channel_scope=+",
        "?channel_kind=slack-user&channel_scope=C1&channel_scope=C2",
    ] {
        for method in ["GET", "DELETE"] {
            let path = format!("/v1/tenants/acme/history{query}");
            let answer = service.call(call(method, &path).key(&service.key)).await;
            answer.assert_problem(422, "invalid_parameter");
        }
    }
    assert_eq!(service.get(PATH).await.messages(), ["kept"]);
}
