//! `/v1/tenants/{tenant}/users/{user_id}/context`

use std::time::Duration;

use serde_json::json;

use crate::service::{append_body, service};

#[tokio::test]
async fn the_block_tells_what_was_said_elsewhere() {
    let service = service().await;
    let user = service.said("a", "To Bern?").await;
    let path = format!("/v1/tenants/acme/users/{user}/context");
    let mut desk = append_body("b", "on this canvas");
    desk["canvas_session_id"] = json!("cv-1");
    service.append(&desk).await.assert_status(201);
    service.clock.advance(Duration::from_mins(5));
    let answer = service
        .get(&format!("{path}?exclude_canvas_session_id=cv-1"))
        .await;
    let recent = service.get(&path.replace("context", "turns")).await.json();
    assert_eq!(
        answer.json(),
        json!({
            "block": "## Recent context from other channels\n\
                      - slack-user, 5 min ago, assistant: ok\n\
                      - slack-user, 5 min ago, user: To Bern?\n",
            "turn_ids": [recent["turns"][1]["id"]],
            "erasure_epoch": 0,
        })
    );
}

//
#[tokio::test]
async fn it_looks_three_days_back() {
    let service = service().await;
    let user = service.said("a", "long ago").await;
    let path = format!("/v1/tenants/acme/users/{user}/context");
    service.clock.advance(Duration::from_hours(72));
    assert!(service.get(&path).await.text().contains("long ago"));
    service.clock.advance(Duration::from_micros(1));
    assert_eq!(
        service.get(&path).await.json(),
        json!({"block": "", "turn_ids": [], "erasure_epoch": 0})
    );
}

#[tokio::test]
async fn the_block_stays_within_the_bytes_asked_for() {
    let service = service().await;
    let mut user = String::new();
    for n in 0..20 {
        user = service.said(&format!("k{n}"), &"wörter ".repeat(100)).await;
    }
    let path = format!("/v1/tenants/acme/users/{user}/context");
    let bytes = |query: &str| {
        let path = format!("{path}{query}");
        let service = &service;
        async move {
            service.get(&path).await.json()["block"]
                .as_str()
                .unwrap()
                .len()
        }
    };
    let default = bytes("").await;
    assert!((1..=2_048).contains(&default), "{default}");
    assert!((1..=300).contains(&bytes("?max_bytes=300").await));
    assert_eq!(bytes("?max_bytes=0").await, 0);
    assert_eq!(bytes("?max_bytes=2048").await, default);
    for bad in ["", "-1", "+1", "65537", "1.5", "x"] {
        let answer = service.get(&format!("{path}?max_bytes={bad}")).await;
        answer.assert_problem(422, "invalid_parameter");
    }
}
