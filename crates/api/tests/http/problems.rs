//! Whatever goes wrong is `application/problem+json` with a stable code.

use std::sync::Arc;

use axum::body::Body;
use futures_util::stream;
use serde_json::json;
use throughline_api::Settings;
use throughline_conversation_memory::{Cause, MemoryError};

use crate::doubles::{Fault, FaultyMemory};
use crate::service::{Call, append_body, call, get, service, service_with};

const TURNS: &str = "/v1/tenants/acme/turns";
const MIB: usize = 1024 * 1024;

fn post(key: &str, body: impl Into<Body>) -> Call {
    call("POST", TURNS)
        .key(key)
        .header("content-type", "application/json")
        .body(body)
}

#[tokio::test]
async fn a_body_that_is_not_json_is_refused() {
    let service = service().await;
    for body in [
        "",
        "{",
        "nonsense",
        "{\"turn\":{}} trailing",
        "[1,]",
        "\u{feff}{}",
    ] {
        service
            .call(post(&service.key, body))
            .await
            .assert_problem(400, "invalid_json");
    }
    let not_utf8 = b"{\"channel_kind\":\"\xff\"}".to_vec();
    service
        .call(post(&service.key, not_utf8))
        .await
        .assert_problem(400, "invalid_json");
    let twice = r#"{"channel_kind":"a","channel_kind":"b"}"#;
    service
        .call(post(&service.key, twice))
        .await
        .assert_problem(400, "invalid_json");
    let deep = format!("{{\"metadata\":{}", "[".repeat(100_000));
    service
        .call(post(&service.key, deep))
        .await
        .assert_problem(400, "invalid_json");
}

// failures.md 25
#[tokio::test]
async fn a_text_that_no_store_keeps_is_refused_before_the_store() {
    let service = service().await;
    for (text, pointer) in [
        (r"a\u0000", "/turn/user_message"),
        (r"\ud800", "/turn/user_message"),
    ] {
        let body = append_body("k", "TEXT").to_string().replace("TEXT", text);
        let answer = service.call(post(&service.key, body)).await;
        answer.assert_problem(422, "invalid_text");
        assert_eq!(answer.json()["pointer"], json!(pointer));
    }
    let nul = service
        .get("/v1/tenants/acme/history?channel_kind=a&channel_scope=%00")
        .await;
    nul.assert_problem(422, "invalid_text");
    assert_eq!(nul.json()["parameter"], "channel_scope");
}

#[tokio::test]
async fn a_body_of_another_type_is_refused() {
    let service = service().await;
    let body = append_body("k", "hi").to_string();
    let untyped = call("POST", TURNS).key(&service.key).body(body.clone());
    service
        .call(untyped)
        .await
        .assert_problem(415, "unsupported_media_type");
    for kind in [
        "text/plain",
        "application/xml",
        "application/json; charset=utf-16",
    ] {
        let typed = call("POST", TURNS)
            .key(&service.key)
            .header("content-type", kind);
        let answer = service.call(typed.body(body.clone())).await;
        answer.assert_problem(415, "unsupported_media_type");
    }
}

#[tokio::test]
async fn an_unknown_path_and_a_wrong_method_are_told_apart() {
    let service = service().await;
    for path in [
        "/",
        "/v1",
        "/v1/tenants/acme",
        "/v1/tenants/acme/turns/",
        "/v2/x",
        "/%ff",
    ] {
        service.get(path).await.assert_problem(404, "not_found");
    }
    for (method, path, allow) in [
        ("GET", TURNS, "POST"),
        ("PUT", "/v1/tenants/acme/history", "GET,HEAD,DELETE"),
        ("BREW", "/livez", "GET,HEAD"),
    ] {
        let answer = service.call(call(method, path)).await;
        answer.assert_problem(405, "method_not_allowed");
        assert_eq!(answer.header("allow"), allow, "{method} {path}");
    }
}

#[tokio::test]
async fn a_path_part_that_is_no_id_is_named() {
    let service = service().await;
    for id in ["x", "%ff", "01J", "%00"] {
        let answer = service
            .get(&format!("/v1/tenants/acme/users/{id}/turns"))
            .await;
        answer.assert_problem(422, "invalid_parameter");
    }
    let answer = service.get("/v1/tenants/acme/users/x").await;
    assert_eq!(answer.json()["parameter"], "user_id");
}

// failures.md 7
#[tokio::test]
async fn a_body_over_four_mebibytes_is_refused_announced_or_not() {
    let service = service().await;
    let padded = |bytes: usize| {
        let body = append_body("k", "hi").to_string();
        format!("{body}{}", " ".repeat(bytes - body.len()))
    };
    service
        .call(post(&service.key, padded(4 * MIB)))
        .await
        .assert_status(201);
    let over = padded(4 * MIB + 1);
    let announced =
        post(&service.key, over.clone()).header("content-length", &over.len().to_string());
    let answer = service.call(announced).await;
    answer.assert_problem(413, "payload_too_large");
    assert_eq!(answer.header("connection"), "close");
    let chunks = (0..5).map(|_| Ok::<_, std::io::Error>(vec![b' '; MIB]));
    let chunked = post(&service.key, Body::from_stream(stream::iter(chunks)));
    service
        .call(chunked)
        .await
        .assert_problem(413, "payload_too_large");
    // Only a promise: the rest never comes, and is not waited for.
    let promised = post(
        &service.key,
        Body::from_stream(stream::pending::<Result<Vec<u8>, std::io::Error>>()),
    );
    let promised = promised.header("content-length", "99999999999");
    service
        .call(promised)
        .await
        .assert_problem(413, "payload_too_large");
}

#[tokio::test(start_paused = true)]
async fn a_body_that_does_not_arrive_is_a_timeout() {
    let service = service().await;
    let never = stream::pending::<Result<Vec<u8>, std::io::Error>>();
    let answer = service
        .call(post(&service.key, Body::from_stream(never)))
        .await;
    answer.assert_problem(408, "timeout");
    assert_eq!(answer.header("connection"), "close");
}

#[tokio::test]
async fn a_body_that_breaks_off_is_refused() {
    let service = service().await;
    let broken = stream::iter([Ok(b"{".to_vec()), Err(std::io::Error::other("reset"))]);
    let answer = service
        .call(post(&service.key, Body::from_stream(broken)))
        .await;
    answer.assert_problem(400, "invalid_json");
}

#[tokio::test]
async fn a_panic_is_an_internal_error_and_the_next_request_is_served() {
    let service = service_with(Settings::default(), |c| {
        c.memory = Arc::new(FaultyMemory(Fault::Panic));
    })
    .await;
    let path = "/v1/tenants/acme/users/01J0000000000000000000000A/turns";
    let answer = service.get(path).await;
    answer.assert_problem(500, "internal");
    assert!(
        !answer.text().contains("asked for"),
        "the panic's text stays inside"
    );
    service.call(get("/livez")).await.assert_status(200);
}

// failures.md 34
#[tokio::test]
async fn a_store_that_is_down_is_never_an_empty_list() {
    let down = || MemoryError::Unavailable(Cause::text("connection refused"));
    let service = service_with(Settings::default(), |c| {
        c.memory = Arc::new(FaultyMemory(Fault::Read(down)));
    })
    .await;
    let user = "/v1/tenants/acme/users/01J0000000000000000000000A";
    for path in [
        format!("{user}/turns"),
        format!("{user}/context"),
        "/v1/tenants/acme/history?channel_kind=a&channel_scope=b".to_owned(),
    ] {
        let answer = service.get(&path).await;
        answer.assert_problem(503, "unavailable");
        assert_eq!(answer.header("retry-after"), "1");
        assert!(!answer.text().contains("refused"), "the cause stays inside");
    }
}

#[tokio::test]
async fn a_row_that_cannot_be_read_is_an_internal_error() {
    let corrupt = || MemoryError::Corrupt {
        table: "turns",
        column: "metadata",
        row: "7".to_owned(),
    };
    let service = service_with(Settings::default(), |c| {
        c.memory = Arc::new(FaultyMemory(Fault::Read(corrupt)));
    })
    .await;
    let path = "/v1/tenants/acme/users/01J0000000000000000000000A/turns";
    service.get(path).await.assert_problem(500, "internal");
}

#[tokio::test]
async fn reserved_names_are_refused_and_unknown_ones_ignored() {
    let service = service().await;
    for name in ["tenant_id", "installation_id", "source"] {
        let mut body = append_body("k", "hi");
        body[name] = json!("acme");
        let answer = service.append(&body).await;
        answer.assert_problem(422, "reserved_field");
        assert_eq!(answer.json()["pointer"], json!(format!("/{name}")));
        let path = format!("/v1/tenants/acme/history?channel_kind=a&channel_scope=b&{name}=x");
        service
            .get(&path)
            .await
            .assert_problem(422, "reserved_field");
    }
    let mut body = append_body("k", "hi");
    body["later"] = json!({"source": 1});
    body["metadata"] = json!({"source": "x", "tenant_id": "x"});
    service.append(&body).await.assert_status(201);
}
