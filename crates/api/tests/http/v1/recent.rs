//! `/v1/tenants/{tenant}/users/{user_id}/turns`

use std::time::Duration;

use serde_json::{Value, json};
use throughline_tenancy::Scope;

use crate::service::{NOW_MS, Service, append_body, get, service};

/// Says `texts` one second apart, on alternating channels and canvases.
async fn spoken(service: &Service, texts: &[&str]) -> String {
    let mut user = Value::Null;
    for (n, text) in texts.iter().enumerate() {
        let mut body = append_body(text, text);
        body["channel_kind"] = json!(["slack-user", "telegram-chat"][n % 2]);
        if n % 3 > 0 {
            body["canvas_session_id"] = json!(format!("cv-{}", n % 3));
        }
        let answer = service.append(&body).await;
        answer.assert_status(201);
        user = answer.json()["user_id"].clone();
        service.clock.advance(Duration::from_secs(1));
    }
    format!("/v1/tenants/acme/users/{}/turns", user.as_str().unwrap())
}

#[tokio::test]
async fn a_turn_has_every_field_of_the_contract_and_no_null() {
    let service = service().await;
    let mut body = append_body("k", "hi");
    body["canvas_session_id"] = json!("cv-7");
    body["tool_calls"] = json!([{"name": "search", "n": 1}]);
    body["metadata"] = json!({"b": 1, "a": null});
    body["turn"]["timestamp_ms"] = json!(NOW_MS - 5);
    let stored = service.append(&body).await.json();
    let path = format!(
        "/v1/tenants/acme/users/{}/turns",
        stored["user_id"].as_str().unwrap()
    );
    let expected = json!({
        "turns": [{
            "id": stored["message_id"], "seq": stored["seq"], "user_id": stored["user_id"],
            "channel_kind": "slack-user",
            "channel_scope": "C1", "canvas_session_id": "cv-7", "user_message": "hi",
            "assistant_answer": "ok", "tool_calls": [{"name": "search", "n": 1}],
            "metadata": {"a": null, "b": 1}, "created_at": "2023-11-14T22:13:19.995000Z",
            "timestamp_ms": NOW_MS - 5, "redaction_state": "clean",
        }],
        "pending_excluded": 0,
        "erasure_epoch": 0,
    });
    assert_eq!(service.get(&path).await.json(), expected);

    service
        .append(&append_body("bare", "bye"))
        .await
        .assert_status(201);
    let bare = service.get(&format!("{path}?limit=1")).await.json()["turns"][0].clone();
    let fields: Vec<&String> = bare.as_object().unwrap().keys().collect();
    assert!(
        !fields.contains(&&"canvas_session_id".to_owned()),
        "{fields:?}"
    );
    assert!(!fields.contains(&&"tool_calls".to_owned()), "{fields:?}");
    assert_eq!(bare["metadata"], json!({}));
}

#[tokio::test]
async fn numbers_keep_the_digits_they_were_sent_with() {
    let service = service().await;
    let body = append_body("k", "hi").to_string();
    let body = body.replacen(
        '{',
        r#"{"metadata":{"n":1.10,"big":12345678901234567890123},"#,
        1,
    );
    let call = crate::service::call("POST", "/v1/tenants/acme/turns").key(&service.key);
    let stored = service
        .call(call.header("content-type", "application/json").body(body))
        .await;
    let user = stored.json()["user_id"].as_str().unwrap().to_owned();
    let text = service
        .get(&format!("/v1/tenants/acme/users/{user}/turns"))
        .await
        .text();
    assert!(
        text.contains(r#""metadata":{"big":12345678901234567890123,"n":1.10}"#),
        "{text}"
    );
}

#[tokio::test]
async fn filters_narrow_what_is_read() {
    let service = service().await;
    let path = spoken(&service, &["a", "b", "c", "d", "e"]).await;
    let at = |seconds: i64| NOW_MS + seconds * 1_000;
    for (query, expected) in [
        (String::new(), vec!["e", "d", "c", "b", "a"]),
        ("limit=2".to_owned(), vec!["e", "d"]),
        (format!("since_ms={}", at(3)), vec!["e", "d"]),
        (format!("until_ms={}", at(2)), vec!["b", "a"]),
        (
            format!("since_ms={}&until_ms={}", at(1), at(3)),
            vec!["c", "b"],
        ),
        ("channel_kinds=telegram-chat".to_owned(), vec!["d", "b"]),
        (
            "channel_kinds=telegram-chat,slack-user&limit=1".to_owned(),
            vec!["e"],
        ),
        ("channel_kinds=".to_owned(), vec!["e", "d", "c", "b", "a"]),
        // T-20: turns without a canvas stay.
        (
            "exclude_canvas_session_id=cv-1".to_owned(),
            vec!["d", "c", "a"],
        ),
        (
            "include_raw=false&unknown=1&unknown=2".to_owned(),
            vec!["e", "d", "c", "b", "a"],
        ),
    ] {
        let answer = service.get(&format!("{path}?{query}")).await;
        answer.assert_status(200);
        assert_eq!(answer.messages(), expected, "{query}");
    }
}

// failures.md 11
#[tokio::test]
async fn a_filter_that_cannot_be_meant_is_refused() {
    let service = service().await;
    let path = spoken(&service, &["a"]).await;
    for (query, code) in [
        ("limit=0", "invalid_limit"),
        ("limit=-1", "invalid_limit"),
        ("limit=", "invalid_limit"),
        ("limit=1&limit=2", "invalid_parameter"),
        ("since_ms=", "invalid_parameter"),
        ("since_ms=1.5", "invalid_parameter"),
        ("until_ms=soon", "invalid_parameter"),
        ("exclude_canvas_session_id=", "invalid_parameter"),
        ("exclude_canvas_session_id=%20", "invalid_parameter"),
        ("exclude_canvas_session_id=%00", "invalid_text"),
        ("exclude_canvas_session_id=%ff", "invalid_parameter"),
        ("channel_kinds=%20", "invalid_parameter"),
        ("channel_kinds=a,", "invalid_parameter"),
        ("cursor=", "invalid_cursor"),
        ("cursor=AAAA", "invalid_cursor"),
        ("include_raw=", "invalid_parameter"),
    ] {
        service
            .get(&format!("{path}?{query}"))
            .await
            .assert_problem(422, code);
    }
}

#[tokio::test]
async fn an_unknown_user_reads_as_empty() {
    let service = service().await;
    let path = "/v1/tenants/acme/users/01J0000000000000000000000A/turns";
    assert_eq!(
        service.get(path).await.json(),
        json!({"turns": [], "pending_excluded": 0, "erasure_epoch": 0})
    );
}

// failures.md 6
#[tokio::test]
async fn pages_hold_each_turn_once_while_others_write() {
    let service = service().await;
    let mut path = String::new();
    for n in 0..40 {
        let mut body = append_body(&format!("k{n}"), &n.to_string());
        body["turn"]["timestamp_ms"] = json!(NOW_MS - n % 3);
        let user = service.append(&body).await.json()["user_id"].clone();
        path = format!(
            "/v1/tenants/acme/users/{}/turns?limit=7",
            user.as_str().unwrap()
        );
    }
    let mut read = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = service.get(&format!("{path}{cursor}")).await;
        page.assert_status(200);
        read.extend(page.messages());
        service.said(&format!("late{}", read.len()), "late").await;
        match page.json().get("next_cursor") {
            Some(next) => cursor = format!("&cursor={}", next.as_str().unwrap()),
            None => break,
        }
    }
    let mut numbers: Vec<i64> = read.iter().map(|text| text.parse().unwrap()).collect();
    let order: Vec<i64> = numbers.iter().map(|n| n % 3).collect();
    assert!(order.is_sorted(), "newest first: {order:?}");
    numbers.sort_unstable();
    assert_eq!(numbers, (0..40).collect::<Vec<i64>>());
}

#[tokio::test]
async fn a_cursor_serves_only_its_tenant_user_and_filters() {
    let service = service().await;
    let path = spoken(&service, &["a", "b", "c"]).await;
    let first = service
        .get(&format!("{path}?limit=1&channel_kinds=slack-user"))
        .await
        .json();
    let cursor = first["next_cursor"].as_str().unwrap();
    let page = |query: &str| format!("{path}?cursor={cursor}{query}");
    let same = service
        .get(&page("&limit=5&channel_kinds=slack-user"))
        .await;
    assert_eq!(same.messages(), ["a"]);
    for query in [
        "",
        "&channel_kinds=telegram-chat",
        "&channel_kinds=slack-user&since_ms=1",
    ] {
        service
            .get(&page(query))
            .await
            .assert_problem(422, "invalid_cursor");
    }
    let stranger = "/v1/tenants/acme/users/01J0000000000000000000000A/turns";
    let query = format!("?cursor={cursor}&channel_kinds=slack-user");
    service
        .get(&format!("{stranger}{query}"))
        .await
        .assert_problem(422, "invalid_cursor");
    let foreign = service.mint("acme-corp", &Scope::ALL).await;
    let theirs = format!("{}{query}", path.replace("acme", "acme-corp"));
    service
        .call(get(&theirs).key(&foreign))
        .await
        .assert_problem(422, "invalid_cursor");
}

// failures.md 9
#[tokio::test]
async fn another_tenant_reads_nothing_under_the_same_user_id() {
    let service = service().await;
    let path = spoken(&service, &["a"]).await;
    let foreign = service.mint("acme-corp", &Scope::ALL).await;
    let theirs = service
        .call(get(&path.replace("acme", "acme-corp")).key(&foreign))
        .await;
    assert_eq!(theirs.json()["turns"], Value::Array(Vec::new()));
}
