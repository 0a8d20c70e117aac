//! `POST /v1/tenants/{tenant}/turns/batch`

use serde_json::{Value, json};

use crate::service::{append_body, service};

const PATH: &str = "/v1/tenants/acme/turns/batch";

#[tokio::test]
async fn each_turn_has_its_result_in_order_and_one_refused_costs_only_itself() {
    let service = service().await;
    service.said("old", "old").await;
    let with = |key: &str, field: &str, value: Value| {
        let mut body = append_body(key, "hi");
        body[field] = value;
        body
    };
    let turns = json!({"turns": [
        append_body("new", "new"),
        append_body("old", "old"),
        append_body("old", "another"),
        7,
        with("r", "tenant_id", json!("acme")),
        with("e", "turn", json!({})),
        with("u", "user_id", json!("01J0000000000000000000000A")),
        with("n", "ref", json!({"kind": "custom", "id": "U2"})),
        append_body("new", "new"),
    ]});
    let answer = service.post(PATH, &turns).await;
    answer.assert_status(200);
    let results = answer.json()["results"].as_array().unwrap().clone();
    let told = |result: &Value| {
        let code = result["error"]["code"].as_str().unwrap_or("").to_owned();
        (result["status"].as_u64().unwrap(), code)
    };
    let told: Vec<(u64, String)> = results.iter().map(told).collect();
    let expected = [
        (201, ""),
        (200, ""),
        (409, "idempotency_mismatch"),
        (422, "invalid_request"),
        (422, "reserved_field"),
        (422, "empty_turn"),
        (422, "invalid_author"),
        (201, ""),
        (200, ""),
    ];
    assert_eq!(
        told,
        expected.map(|(status, code)| (status, code.to_owned()))
    );
    assert_eq!(results[0]["client_message_id"], "new");
    assert_eq!(results[8]["message_id"], results[0]["message_id"]);
    assert_ne!(results[7]["user_id"], results[0]["user_id"]);
    assert!(results[0]["seq"].as_u64() < results[7]["seq"].as_u64());
    assert!(results[0].get("error").is_none() && results[2].get("message_id").is_none());
}

#[tokio::test]
async fn a_batch_sent_again_stores_nothing() {
    let service = service().await;
    let turns: Vec<Value> = (0..500)
        .map(|n| append_body(&format!("k{n}"), &n.to_string()))
        .collect();
    let batch = json!({"turns": turns});
    let statuses = |answer: Value, status: u64| {
        let results = answer["results"].as_array().unwrap().clone();
        assert_eq!(results.len(), 500);
        assert!(results.iter().all(|result| result["status"] == status));
        results[0]["user_id"].as_str().unwrap().to_owned()
    };
    let user = statuses(service.post(PATH, &batch).await.json(), 201);
    statuses(service.post(PATH, &batch).await.json(), 200);
    let shown = service
        .get(&format!("/v1/tenants/acme/users/{user}"))
        .await
        .json();
    assert_eq!(shown["turn_count"], 500);
}

#[tokio::test]
async fn a_batch_over_its_limit_stores_nothing() {
    let service = service().await;
    let turns: Vec<Value> = (0..501)
        .map(|n| append_body(&format!("k{n}"), "hi"))
        .collect();
    let answer = service.post(PATH, &json!({"turns": turns})).await;
    answer.assert_problem(422, "batch_too_large");
    let lookup = "/v1/tenants/acme/identities?kind=slack-user&id=U1";
    service
        .get(lookup)
        .await
        .assert_problem(404, "unknown_user");
}

#[tokio::test]
async fn the_whole_must_be_a_list() {
    let service = service().await;
    assert_eq!(
        service.post(PATH, &json!({"turns": []})).await.json(),
        json!({"results": [], "erasure_epoch": 0})
    );
    for body in [
        json!({}),
        json!([]),
        json!({"turns": {}}),
        json!({"turns": null}),
    ] {
        service
            .post(PATH, &body)
            .await
            .assert_problem(422, "invalid_request");
    }
    let reserved = json!({"turns": [], "source": "x"});
    service
        .post(PATH, &reserved)
        .await
        .assert_problem(422, "reserved_field");
}
