//! `POST /v1/tenants/{tenant}/turns`

use std::time::Duration;

use serde_json::{Value, json};

use crate::service::{NOW_MS, append_body, call, service};

// failures.md 1
#[tokio::test]
async fn a_retry_returns_the_first_answer_marked_duplicate() {
    let service = service().await;
    let first = service.append(&append_body("k", "hi")).await;
    first.assert_status(201);
    let mut expected = first.json();
    assert_eq!(
        expected,
        json!({
            "message_id": expected["message_id"], "user_id": expected["user_id"], "seq": 1,
            "duplicate": false, "redaction_state": "clean", "client_message_id": "k",
            "erasure_epoch": 0,
        })
    );
    service.clock.advance(Duration::from_mins(1));
    let again = service.append(&append_body("k", "hi")).await;
    again.assert_status(200);
    expected["duplicate"] = json!(true);
    assert_eq!(again.json(), expected);
}

// failures.md 2
#[tokio::test]
async fn the_key_with_another_turn_is_a_conflict_that_shows_nothing() {
    let service = service().await;
    let stored = service.append(&append_body("k", "hi")).await.json();
    for (field, value) in [
        ("/turn/user_message", json!("other")),
        ("/ref/id", json!("U2")),
        ("/channel_scope", json!("C2")),
    ] {
        let mut body = append_body("k", "hi");
        *body.pointer_mut(field).unwrap() = value;
        let answer = service.append(&body).await;
        answer.assert_problem(409, "idempotency_mismatch");
        assert_eq!(answer.json()["client_message_id"], "k");
        for secret in ["user_id", "message_id"] {
            assert!(
                !answer.text().contains(stored[secret].as_str().unwrap()),
                "{field}"
            );
        }
    }
}

// failures.md 3
#[tokio::test]
async fn fifty_requests_with_one_key_store_one_turn() {
    let service = service().await;
    let body = append_body("k", "hi");
    let calls = (0..50).map(|_| service.append(&body));
    let answers = futures_util::future::join_all(calls).await;
    let ids: std::collections::BTreeSet<String> = answers
        .iter()
        .map(|answer| answer.json()["message_id"].to_string())
        .collect();
    assert_eq!(ids.len(), 1);
    let created = answers
        .iter()
        .filter(|answer| answer.status.as_u16() == 201)
        .count();
    assert_eq!(created, 1);
}

// T-12
#[tokio::test]
async fn a_turn_id_makes_a_retry_safe_and_no_key_says_it_is_not() {
    let service = service().await;
    let mut body = append_body("k", "hi");
    body["client_message_id"] = Value::Null;
    body["turn_id"] = json!("7");
    let first = service.append(&body).await;
    first.assert_status(201);
    assert!(
        first.json()["client_message_id"]
            .as_str()
            .unwrap()
            .starts_with("t:")
    );
    assert_eq!(first.json().get("retry_safe"), None);
    service.append(&body).await.assert_status(200);
    body["channel_scope"] = json!("C2");
    service.append(&body).await.assert_status(201);

    body["turn_id"] = Value::Null;
    let minted: Vec<Value> = vec![
        service.append(&body).await.json(),
        service.append(&body).await.json(),
    ];
    for answer in &minted {
        assert_eq!(answer["retry_safe"], false);
        assert_eq!(answer["duplicate"], false);
    }
    assert_ne!(
        minted[0]["client_message_id"],
        minted[1]["client_message_id"]
    );
}

#[tokio::test]
async fn a_user_is_named_by_id_or_by_ref() {
    let service = service().await;
    let user = service.said("a", "by ref").await;
    let mut body = append_body("b", "by id");
    body["ref"] = Value::Null;
    body["user_id"] = json!(user);
    let answer = service.append(&body).await;
    answer.assert_status(201);
    assert_eq!(answer.json()["user_id"], json!(user));
    body["client_message_id"] = json!("c");
    body["user_id"] = json!("01J0000000000000000000000A");
    let unknown = service.append(&body).await;
    unknown.assert_problem(404, "unknown_user");
    assert_eq!(unknown.json()["client_message_id"], "c");
}

// A refused turn must not leave a user behind.
#[tokio::test]
async fn a_refused_turn_makes_no_user() {
    let service = service().await;
    let mut body = append_body("k", "");
    body["turn"]["assistant_answer"] = json!("");
    service
        .append(&body)
        .await
        .assert_problem(422, "empty_turn");
    let lookup = "/v1/tenants/acme/identities?kind=slack-user&id=U1";
    service
        .get(lookup)
        .await
        .assert_problem(404, "unknown_user");
}

// T-26
#[tokio::test]
async fn the_callers_time_is_kept_clamped_or_refused() {
    let service = service().await;
    let day = 24 * 3_600 * 1_000;
    let keep = call("PATCH", "/admin/tenants/acme").json(&json!({"config": {"ttl_days": 60}}));
    service
        .call(keep.key(&service.operator))
        .await
        .assert_status(200);
    for (key, said, lands) in [
        ("past", -1_500, -1_500),
        ("ahead", day, 120_000),
        ("far", -40 * day, -30 * day),
    ] {
        let mut body = append_body(key, key);
        body["turn"]["timestamp_ms"] = json!(NOW_MS + said);
        let user = service.append(&body).await.json()["user_id"]
            .as_str()
            .unwrap()
            .to_owned();
        let turns = service
            .get(&format!("/v1/tenants/acme/users/{user}/turns"))
            .await
            .json();
        let turns = turns["turns"].as_array().unwrap();
        let turn = turns
            .iter()
            .find(|turn| turn["user_message"] == key)
            .unwrap();
        assert_eq!(turn["timestamp_ms"], json!(NOW_MS + lands), "{key}");
    }
    let mut body = append_body("expired", "hi");
    body["turn"]["timestamp_ms"] = json!(NOW_MS - 61 * day);
    service.append(&body).await.assert_problem(422, "expired");
}

// failures.md 7
#[tokio::test]
async fn a_field_over_its_limit_is_named() {
    let service = service().await;
    let body = append_body("k", &"x".repeat(256 * 1024 + 1));
    let answer = service.append(&body).await;
    answer.assert_problem(413, "payload_too_large");
    assert_eq!(answer.json()["pointer"], "/turn/user_message");
    service
        .append(&append_body("k", &"x".repeat(256 * 1024)))
        .await
        .assert_status(201);
}

#[tokio::test]
async fn text_comes_back_byte_for_byte() {
    let service = service().await;
    for (n, text) in [
        "é e\u{301}",
        "👨‍👩‍👧‍👦🇨🇭",
        "שלום\u{202e}x",
        "\u{feff}\r\n\t\u{7f}",
        "\u{fffd}\u{10ffff}",
        "\"\\/\u{8}",
    ]
    .iter()
    .enumerate()
    {
        let user = service.said(&n.to_string(), text).await;
        let turns = service
            .get(&format!("/v1/tenants/acme/users/{user}/turns?limit=1"))
            .await;
        assert_eq!(turns.messages(), [*text]);
    }
}
