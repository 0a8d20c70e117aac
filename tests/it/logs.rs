//! What is written to logs and metrics, looked through for planted words.

use serde_json::json;
use throughline_tests::{Service, World};

// failures.md 33, T-66: at the most talkative level, nothing of a turn, a person or a key is written.
#[tokio::test]
async fn no_content_person_or_key_reaches_a_log_or_a_metric() {
    let mut world = World::start().await;
    let url = world.database.url().to_owned();
    world.service = Service::start(
        &[],
        &[("CCM_DATABASE_URL", &url), ("CCM_LOG_FILTER", "trace")],
    );
    world.service.ready().await;
    let client = world.service.client(world.acme.key());
    let body = json!({
        "client_message_id": "planted-key",
        "ref": {
            "kind": "whatsapp-phone", "id": "planted-phone", "display_name": "planted-name",
            "email": "planted-mail@example.org", "email_verified": true,
        },
        "channel_kind": "whatsapp-phone",
        "channel_scope": "planted-scope",
        "canvas_session_id": "planted-canvas",
        "turn": { "user_message": "planted-question", "assistant_answer": "planted-answer" },
        "tool_calls": [{ "name": "planted-tool" }],
        "metadata": { "planted-field": "planted-value" },
    });
    let stored = client.post("/v1/tenants/acme/turns", &body).await.ok();
    let user = stored["user_id"].as_str().expect("an id");
    client
        .get(&format!("/v1/tenants/acme/users/{user}/turns"))
        .await
        .ok();
    client
        .get(&format!("/v1/tenants/acme/users/{user}/context"))
        .await
        .ok();
    client
        .get("/v1/tenants/acme/history?channel_kind=whatsapp-phone&channel_scope=planted-scope")
        .await
        .ok();
    client
        .get("/v1/tenants/acme/identities?kind=whatsapp-phone&id=planted-phone")
        .await
        .ok();
    client
        .post("/v1/tenants/acme/turns", &json!({ "planted-broken": true }))
        .await;
    let metrics = client.get("/metrics").await.ok();

    let log = world.service.log();
    assert!(log.lines().count() > 8, "the log is there: {log}");
    let secret = world
        .acme
        .key()
        .rsplit(':')
        .next()
        .expect("a key has parts");
    for output in [&log, metrics.as_str().expect("text")] {
        assert!(!output.contains(secret), "the key is written");
        let at = output.find("planted").map(|at| {
            let start = output[..at].rfind('\n').map_or(0, |line| line + 1);
            output[start..].lines().next()
        });
        assert_eq!(at, None, "a planted word is written");
    }
}
