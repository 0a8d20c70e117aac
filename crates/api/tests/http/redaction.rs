//! What default readers get of what people typed, and what operators get (issue C).

use serde_json::{Value, json};
use throughline_conversation_memory::AuditQuery;
use throughline_conversation_memory::{Audit as _, AuditDetail, ReadRaw};
use throughline_tenancy::{RedactionMode, Scope, Tenancy as _, TenantConfig};

use crate::service::{Service, append_body, get, service, tenant};

const ADDRESS: &str = "jo@example.com";
const CARD: u64 = 4_111_111_111_111_111;

/// An address in the text, in a nested JSON string inside a tool argument and as an object key, and a
/// card as a JSON number.
fn telling(key: &str) -> Value {
    let mut body = append_body(key, &format!("write {ADDRESS} today"));
    let inner = json!({ "to": ADDRESS, "card": CARD }).to_string();
    body["tool_calls"] = json!([{ "name": "send", "arguments": inner }]);
    body["metadata"] = json!({ "card": CARD, ADDRESS: 1 });
    body
}

async fn told(service: &Service) -> String {
    let alone = service.append(&telling("1")).await;
    alone.assert_status(201);
    let batch = json!({ "turns": [telling("2")] });
    let batch = service.post("/v1/tenants/acme/turns/batch", &batch).await;
    assert!(batch.status.is_success(), "{}", batch.text());
    assert!(!batch.text().contains(ADDRESS), "{}", batch.text());
    alone.json()["user_id"].as_str().unwrap().to_owned()
}

fn assert_masked(turn: &Value) {
    assert_eq!(turn["user_message"], "write [EMAIL] today");
    let inner = turn["tool_calls"][0]["arguments"].as_str().unwrap();
    let inner: Value = serde_json::from_str(inner).unwrap();
    assert_eq!(inner, json!({ "to": "[EMAIL]", "card": "[CREDIT_CARD]" }));
    assert_eq!(
        turn["metadata"],
        json!({ "card": "[CREDIT_CARD]", "[EMAIL]": 1 })
    );
    assert_eq!(turn["redaction_state"], "redacted");
    assert!(turn.get("raw_unavailable").is_none());
}

// T-31
#[tokio::test]
async fn recent_history_and_context_show_masks_for_turns_sent_alone_and_in_a_batch() {
    let service = service().await;
    let user = told(&service).await;
    for path in [
        format!("/v1/tenants/acme/users/{user}/turns"),
        "/v1/tenants/acme/history?channel_kind=slack-user&channel_scope=C1".to_owned(),
    ] {
        let answer = service.get(&path).await.json();
        let turns = answer["turns"].as_array().unwrap();
        assert_eq!(turns.len(), 2, "{path}");
        turns.iter().for_each(assert_masked);
    }
    let context = service
        .get(&format!("/v1/tenants/acme/users/{user}/context"))
        .await;
    let context = context.text();
    assert!(
        context.contains("[EMAIL]") && !context.contains(ADDRESS),
        "{context}"
    );
}

//
#[tokio::test]
async fn an_operators_raw_read_is_verbatim_and_leaves_exactly_one_entry() {
    let service = service().await;
    let user = told(&service).await;
    let path = format!("/v1/tenants/acme/users/{user}/turns?include_raw=true&limit=1");
    let raw = service.call(get(&path).key(&service.operator)).await;
    raw.assert_status(200);
    let raw = raw.json();
    let (sent, turn) = (telling("2"), &raw["turns"][0]);
    assert_eq!(turn["user_message"], sent["turn"]["user_message"]);
    assert_eq!(turn["tool_calls"], sent["tool_calls"]);
    assert_eq!(turn["metadata"], sent["metadata"]);
    assert_eq!(turn["redaction_state"], "redacted");
    assert!(turn.get("raw_unavailable").is_none(), "it is there");
    let events = service
        .store
        .events(&tenant("acme"), &AuditQuery::latest(10))
        .await
        .unwrap();
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].actor.as_str(), "olga");
    assert_eq!(events[0].user_id.unwrap().to_string(), user);
    let expected = ReadRaw {
        limit: 1,
        since_ms: None,
        exclude_canvas_session_id: None,
        channel_kinds: Vec::new(),
        returned_count: 1,
    };
    assert_eq!(events[0].detail, AuditDetail::ReadRaw(expected));

    // Its cursor is for raw reads only.
    let cursor = raw["next_cursor"].as_str().unwrap();
    let masked = format!("/v1/tenants/acme/users/{user}/turns?cursor={cursor}");
    service
        .get(&masked)
        .await
        .assert_problem(422, "invalid_cursor");
    let next = service
        .call(get(&format!("{path}&cursor={cursor}")).key(&service.operator))
        .await;
    assert_eq!(next.messages(), [format!("write {ADDRESS} today")]);
}

//
#[tokio::test]
async fn a_tenants_key_reads_nothing_raw_whatever_its_scopes() {
    let service = service().await;
    let user = told(&service).await;
    let path = format!("/v1/tenants/acme/users/{user}/turns?include_raw=true");
    let every = service.mint("acme", &Scope::ALL).await;
    let refused = service.call(get(&path).key(&every)).await;
    refused.assert_problem(403, "forbidden");
    assert!(!refused.text().contains(ADDRESS));
    let events = service
        .store
        .events(&tenant("acme"), &AuditQuery::latest(10))
        .await
        .unwrap();
    assert_eq!(events, []);
    // An operator who does not ask for raw text gets masks like everybody.
    let path = format!("/v1/tenants/acme/users/{user}/turns");
    let masked = service.call(get(&path).key(&service.operator)).await.json();
    assert_masked(&masked["turns"][0]);
}

async fn in_mode(redaction_mode: RedactionMode) -> Service {
    let service = service().await;
    let config = TenantConfig {
        redaction_mode,
        ..TenantConfig::default()
    };
    let changed = service.store.configure(&tenant("acme"), config, None).await;
    changed.unwrap();
    service
}

// R-101, T-07
#[tokio::test]
async fn a_raw_read_shows_what_still_waits_for_a_scan() {
    let service = in_mode(RedactionMode::Deferred).await;
    let user = service.said("1", &format!("first {ADDRESS}")).await;
    let path = format!("/v1/tenants/acme/users/{user}/turns");
    let masked = service.get(&path).await.json();
    assert_eq!(
        masked,
        json!({"turns": [], "pending_excluded": 1, "erasure_epoch": 0})
    );
    let raw = get(&format!("{path}?include_raw=true")).key(&service.operator);
    let raw = service.call(raw).await.json();
    assert_eq!(raw["turns"][0]["user_message"], format!("first {ADDRESS}"));
    assert_eq!(raw["turns"][0]["redaction_state"], "pending");
    assert_eq!(raw["pending_excluded"], 0);
}

// R-103, T-30
#[tokio::test]
async fn a_raw_read_says_when_there_is_no_original() {
    let service = in_mode(RedactionMode::Persist).await;
    let user = service.said("1", &format!("first {ADDRESS}")).await;
    let path = format!("/v1/tenants/acme/users/{user}/turns?include_raw=true");
    let raw = service.call(get(&path).key(&service.operator)).await.json();
    assert_eq!(raw["turns"][0]["user_message"], "first [EMAIL]");
    assert_eq!(raw["turns"][0]["raw_unavailable"], true);
    let again = service
        .append(&append_body("1", &format!("first {ADDRESS}")))
        .await;
    again.assert_status(200);
}
