//! Nothing that people said, and no secret, is ever logged (failures.md 33).

use std::cell::RefCell;
use std::io::Write;
use std::sync::{Arc, Once};

use serde_json::json;
use throughline_api::Settings;
use throughline_conversation_memory::{AppendError, Cause};
use tracing_subscriber::fmt::MakeWriter;

use crate::doubles::{Fault, FaultyMemory};
use crate::service::{Service, call, get, service, service_with};

thread_local! {
    /// What this thread's test captures; `None` outside of one.
    static CAPTURED: RefCell<Option<Vec<u8>>> = const { RefCell::new(None) };
}

/// Writes to the capture of its thread. The subscriber is the process's only one: subscribers that come
/// and go beside other tests' threads lose events.
#[derive(Clone, Copy)]
struct ToThisThread;

impl Write for ToThisThread {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        CAPTURED.with_borrow_mut(|captured| {
            if let Some(captured) = captured {
                captured.extend(bytes);
            }
        });
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for ToThisThread {
    type Writer = Self;
    fn make_writer(&'a self) -> Self {
        Self
    }
}

/// Everything this thread logs from now on, at every level.
fn start_capture() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(tracing::Level::TRACE)
            .with_span_events(tracing_subscriber::fmt::format::FmtSpan::FULL)
            .with_ansi(false)
            .with_writer(ToThisThread)
            .finish();
        tracing::subscriber::set_global_default(subscriber).expect("no other test installs one");
    });
    CAPTURED.set(Some(Vec::new()));
}

fn captured() -> String {
    let bytes = CAPTURED.take().expect("a capture was started");
    String::from_utf8(bytes).unwrap()
}

/// Every place of a request that a person or a secret may stand in.
async fn speak_of_sentinels(service: &Service) {
    let body = json!({
        "client_message_id": "sentinel-key", "canvas_session_id": "sentinel-canvas",
        "ref": {"kind": "whatsapp-phone", "id": "sentinel-phone", "display_name": "sentinel-name",
                "email": "sentinel@example.org", "email_verified": true},
        "channel_kind": "whatsapp-phone", "channel_scope": "sentinel-scope",
        "turn": {"user_message": "sentinel-said", "assistant_answer": "sentinel-answered"},
        "tool_calls": ["sentinel-tool"], "metadata": {"sentinel-name": "sentinel-value"},
    });
    service.append(&body).await;
    service.append(&body).await;
    let mut other = body.clone();
    other["turn"]["user_message"] = json!("sentinel-other");
    service.append(&other).await;
    other["turn"]["timestamp_ms"] = json!("sentinel-time");
    other["user_id"] = json!("sentinel-user");
    service.append(&other).await;
    service
        .post(
            "/v1/tenants/acme/turns/batch",
            &json!({"turns": [body, other, "sentinel"]}),
        )
        .await;
    service
        .post(
            "/v1/tenants/acme/identities/resolve",
            &json!({"ref": body["ref"]}),
        )
        .await;
    for path in [
        "/v1/tenants/acme/identities?kind=whatsapp-phone&id=sentinel-phone",
        "/v1/tenants/acme/history?channel_kind=whatsapp-phone&channel_scope=sentinel-scope",
        "/v1/tenants/acme/users/sentinel-user/turns?cursor=sentinel-cursor",
        "/v1/tenants/acme/users/01J0000000000000000000000A/turns?cursor=sentinel-cursor",
        "/v1/tenants/sentinel-tenant/history",
        "/sentinel-path?sentinel-query",
    ] {
        service.get(path).await;
    }
    service.call(call("SENTINEL", "/livez")).await;
    service
        .call(get("/admin/tenants").key("sentinel-token"))
        .await;
    service
        .call(
            get("/livez")
                .header("x-request-id", "sentinel id")
                .header("cookie", "sentinel"),
        )
        .await;
    let keys = call("POST", "/admin/operators/keys").key(&service.operator);
    let body = json!({"actor": "sentinel@example.org", "label": "sentinel-label"});
    service.call(keys.json(&body)).await.assert_status(201);
}

#[tokio::test]
async fn no_content_name_or_secret_is_logged_at_any_level() {
    let timed_out = |turn: &throughline_conversation_memory::NewTurn| AppendError::Timeout {
        key: turn.key().clone(),
        cause: Cause::text("statement timeout"),
    };
    let broken = service_with(Settings::default(), |c| {
        c.memory = Arc::new(FaultyMemory(Fault::Append(timed_out)));
    })
    .await;
    let healthy = service().await;
    start_capture();
    speak_of_sentinels(&healthy).await;
    let body = json!({
        "client_message_id": "sentinel-key", "ref": {"kind": "custom", "id": "sentinel"},
        "channel_kind": "custom", "channel_scope": "sentinel", "turn": {"user_message": "sentinel"},
    });
    broken.append(&body).await.assert_status(503);
    let batch = json!({"turns": [body, body]});
    broken
        .post("/v1/tenants/acme/turns/batch", &batch)
        .await
        .assert_status(200);

    let text = captured();
    let line = text
        .lines()
        .find(|line| line.to_lowercase().contains("sentinel"));
    assert_eq!(line, None, "content reached the log");
    for secret in [&healthy.key, &healthy.operator] {
        assert!(!text.contains(secret.as_str()), "a key reached the log");
    }
    assert!(text.contains("statement timeout"), "the cause is logged");
    assert_eq!(text.matches("turns failed").count(), 1, "once for a batch");
}

#[tokio::test]
async fn a_request_logs_its_id_tenant_route_status_and_duration() {
    let service = service().await;
    start_capture();
    let path = "/v1/tenants/acme/users/01J0000000000000000000000A/turns";
    service
        .call(get(path).key(&service.key).header("x-request-id", "r-1"))
        .await;
    let text = captured();
    let line = text
        .lines()
        .find(|line| line.contains("request served"))
        .expect("a line");
    for field in [
        "request.id=\"r-1\"",
        "tenant.id=\"acme\"",
        "http.route=\"/v1/tenants/{tenant}/users/{user_id}/turns\"",
        "http.status=200",
        "duration_ms=",
    ] {
        assert!(line.contains(field), "{field} is not in {line}");
    }
}
