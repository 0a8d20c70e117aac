//! A turn that the store cannot take is queued for a caller who asked for it, and stored later.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use serde_json::{Value, json};
use throughline_api::Settings;
use throughline_conversation_memory::{
    AppendError, AppendQueue, Appended, Cause, ChannelScope, ConversationMemory, Limit,
    MemoryError, NewTurn, NotKept, QueuedAppend, RecentPage, RecentQuery, Turn, Usage,
};
use throughline_domain::{TenantId, UserId};

use crate::service::{Answer, Service, append_body, call, get, service, service_with};

const APPEND: &str = "/v1/tenants/acme/turns?on_unavailable=queue";
const BATCH: &str = "/v1/tenants/acme/turns/batch?on_unavailable=queue";
const OUTBOX: &str = "/v1/tenants/acme/outbox";

/// A memory whose appends are slow to come while the switch is on.
struct Stuck {
    inner: Arc<dyn ConversationMemory>,
    stuck: Arc<AtomicBool>,
}

#[async_trait]
impl ConversationMemory for Stuck {
    async fn append_batch(
        &self,
        tenant: &TenantId,
        turns: Vec<NewTurn>,
    ) -> Vec<Result<Appended, AppendError>> {
        if !self.stuck.load(Ordering::SeqCst) {
            return self.inner.append_batch(tenant, turns).await;
        }
        let late = |turn: NewTurn| {
            let cause = Cause::text("statement timeout");
            let key = turn.key().clone();
            Err(AppendError::Timeout { key, cause })
        };
        turns.into_iter().map(late).collect()
    }

    async fn recent(
        &self,
        tenant: &TenantId,
        user: UserId,
        query: &RecentQuery,
    ) -> Result<RecentPage, MemoryError> {
        self.inner.recent(tenant, user, query).await
    }

    async fn history(
        &self,
        tenant: &TenantId,
        scope: &ChannelScope,
        limit: Limit,
    ) -> Result<Vec<Turn>, MemoryError> {
        self.inner.history(tenant, scope, limit).await
    }

    async fn clear(&self, tenant: &TenantId, scope: &ChannelScope) -> Result<(), MemoryError> {
        self.inner.clear(tenant, scope).await
    }

    async fn usage(&self, tenant: &TenantId, user: UserId) -> Result<Usage, MemoryError> {
        self.inner.usage(tenant, user).await
    }
}

/// No place anywhere.
struct Full;

#[async_trait]
impl AppendQueue for Full {
    async fn keep(&self, _: &TenantId, appends: Vec<QueuedAppend>) -> Vec<Result<(), NotKept>> {
        let full = |_| {
            let cause = Cause::text("the spool is full");
            Err(NotKept::Unavailable {
                perhaps_kept: false,
                cause,
            })
        };
        appends.into_iter().map(full).collect()
    }
}

async fn stuck() -> (Service, Arc<AtomicBool>) {
    let switch = Arc::new(AtomicBool::new(true));
    let stuck = switch.clone();
    let service = service_with(Settings::default(), |capabilities| {
        let inner = capabilities.memory.clone();
        capabilities.memory = Arc::new(Stuck { inner, stuck });
    })
    .await;
    (service, switch)
}

/// With metrics that anybody may read.
async fn open() -> Service {
    let settings = Settings {
        metrics_open: true,
        ..Settings::default()
    };
    service_with(settings, |_| {}).await
}

async fn sweep(service: &Service) -> Value {
    let run = call("POST", "/admin/jobs/outbox/run").key(&service.operator);
    let answer = service.call(run).await;
    answer.assert_status(200);
    answer.json()["queue"].clone()
}

async fn history(service: &Service) -> Answer {
    service
        .get("/v1/tenants/acme/history?channel_kind=slack-user&channel_scope=C1")
        .await
}

async fn metric(service: &Service, line: &str) -> String {
    let text = service.call(get("/metrics")).await.text();
    let found = text.lines().find_map(|l| l.strip_prefix(line));
    found.unwrap_or("absent").trim().to_owned()
}

#[tokio::test]
async fn a_turn_the_store_cannot_take_is_queued_and_stored_later() {
    let (service, switch) = stuck().await;
    for _ in 0..2 {
        let answer = service.post(APPEND, &append_body("k1", "hi")).await;
        answer.assert_status(202);
        assert_eq!(
            answer.json(),
            json!({"client_message_id": "k1", "queued": true, "erasure_epoch": 0})
        );
    }
    switch.store(false, Ordering::SeqCst);
    let report = sweep(&service).await;
    assert_eq!((&report["stored"], &report["dead"]), (&json!(1), &json!(0)));
    assert_eq!(history(&service).await.messages(), ["hi"]);
    // The same turn sent directly is a duplicate, and a sweep has nothing left.
    let again = service.append(&append_body("k1", "hi")).await;
    again.assert_status(200);
    assert_eq!(again.json()["duplicate"], true);
    assert_eq!(sweep(&service).await["stored"], 0);
}

// T-26: it lands when it arrived, not when it was stored.
#[tokio::test]
async fn a_turn_that_waited_lands_where_it_arrived() {
    let (service, switch) = stuck().await;
    service
        .post(APPEND, &append_body("k1", "first"))
        .await
        .assert_status(202);
    service.clock.advance(std::time::Duration::from_mins(50));
    switch.store(false, Ordering::SeqCst);
    service
        .append(&append_body("k2", "second"))
        .await
        .assert_status(201);
    sweep(&service).await;
    assert_eq!(history(&service).await.messages(), ["first", "second"]);
}

#[tokio::test]
async fn nobody_is_queued_who_did_not_ask() {
    let (service, _) = stuck().await;
    let answer = service.append(&append_body("k1", "hi")).await;
    answer.assert_problem(503, "unavailable");
    assert_eq!(sweep(&service).await["waiting"], 0);
    for bad in ["", "=", "=no", "=queue&on_unavailable=queue"] {
        let path = format!("/v1/tenants/acme/turns?on_unavailable{bad}");
        let answer = service.post(&path, &append_body("k1", "hi")).await;
        answer.assert_problem(422, "invalid_parameter");
    }
}

// Nothing is claimed where nothing is kept.
#[tokio::test]
async fn without_a_place_the_answer_is_503_and_says_what_is_known() {
    let switch = Arc::new(AtomicBool::new(true));
    let service = service_with(Settings::default(), |capabilities| {
        let inner = capabilities.memory.clone();
        capabilities.memory = Arc::new(Stuck {
            inner,
            stuck: switch,
        });
        capabilities.queue = Arc::new(Full);
    })
    .await;
    let answer = service.post(APPEND, &append_body("k1", "hi")).await;
    answer.assert_problem(503, "unavailable");
    assert_eq!(answer.header("retry-after"), "1");
    // The statement that timed out may have stored it.
    assert_eq!(answer.json()["outcome"], "unknown");
    assert_eq!(answer.json()["client_message_id"], "k1");
    let queued = service.post(OUTBOX, &append_body("k2", "hi")).await;
    queued.assert_problem(503, "unavailable");
    assert_eq!(queued.json()["outcome"], "not_stored");
}

#[tokio::test]
async fn a_batch_queues_only_what_the_store_could_not_take() {
    let (service, switch) = stuck().await;
    let bad = json!({"client_message_id": "bad", "user_id": "x", "channel_kind": "slack-user",
        "channel_scope": "C1", "turn": {"user_message": "hi"}});
    let batch = json!({"turns": [append_body("a", "1"), bad, append_body("b", "2")]});
    let answer = service.post(BATCH, &batch).await;
    answer.assert_status(200);
    let results = answer.json()["results"].clone();
    let status = |n: usize| results[n]["status"].as_u64().unwrap();
    assert_eq!([status(0), status(1), status(2)], [202, 422, 202]);
    assert_eq!(
        results[2],
        json!({"status": 202, "client_message_id": "b", "queued": true})
    );
    switch.store(false, Ordering::SeqCst);
    assert_eq!(sweep(&service).await["stored"], 2);
    let mut said = history(&service).await.messages();
    said.sort_unstable();
    assert_eq!(said, ["1", "2"]);
}

#[tokio::test]
async fn an_append_can_be_queued_without_trying_the_store() {
    let service = open().await;
    let before = metric(&service, "ccm_outbox_queued_total{place=\"outbox\"}").await;
    assert_eq!(before, "0");
    for _ in 0..2 {
        let answer = service.post(OUTBOX, &append_body("k1", "hi")).await;
        answer.assert_status(202);
    }
    let other = service
        .post(OUTBOX, &append_body("k1", "other words"))
        .await;
    other.assert_problem(409, "idempotency_mismatch");
    assert_eq!(other.json()["client_message_id"], "k1");
    let mut minted = append_body("k", "no key");
    minted["client_message_id"] = json!(null);
    let minted = service.post(OUTBOX, &minted).await;
    minted.assert_status(202);
    assert_eq!(minted.json()["retry_safe"], false);
    let report = sweep(&service).await;
    assert_eq!(report["stored"], 2);
    let appends = "ccm_appends_total{channel_kind=\"slack-user\"}";
    assert_eq!(metric(&service, appends).await, "2");
    assert_eq!(metric(&service, "ccm_outbox_pending").await, "0");
}

// T-38: a refusal is a dead letter at once; it can be read, replayed after a fix, and thrown away.
#[tokio::test]
async fn a_dead_letter_can_be_listed_requeued_and_discarded() {
    let service = open().await;
    let unknown = "01J0000000000000000000000A";
    let mut body = append_body("k1", "hi");
    body["ref"] = json!(null);
    body["user_id"] = json!(unknown);
    service.post(OUTBOX, &body).await.assert_status(202);
    assert_eq!(sweep(&service).await["dead"], 1);
    let operator =
        |method: &'static str, path: &str| service.call(call(method, path).key(&service.operator));
    let list = "/admin/tenants/acme/outbox?state=dlq";
    let listed = operator("GET", list).await;
    let entry = listed.json()["entries"][0].clone();
    assert_eq!(entry["last_error"], "unknown_user");
    assert_eq!(
        (&entry["client_message_id"], &entry["attempts"]),
        (&json!("k1"), &json!(1))
    );
    assert!(!listed.text().contains("\"hi\""), "{}", listed.text());
    service
        .post(OUTBOX, &body)
        .await
        .assert_problem(409, "dead_letter");
    let id = entry["id"].as_str().unwrap();
    let path = format!("/admin/tenants/acme/outbox/{id}");
    let requeued = operator("POST", &format!("{path}/requeue")).await;
    requeued.assert_status(200);
    assert_eq!(requeued.json()["state"], "pending");
    operator("DELETE", &path)
        .await
        .assert_problem(404, "unknown_entry");
    assert_eq!(sweep(&service).await["dead"], 1);
    operator("DELETE", &path).await.assert_status(200);
    operator("DELETE", &path)
        .await
        .assert_problem(404, "unknown_entry");
    assert_eq!(operator("GET", list).await.json(), json!({"entries": []}));
    let failures = "ccm_append_failures_total{stage=\"outbox-drain\"}";
    assert_eq!(metric(&service, failures).await, "2");
    assert_eq!(metric(&service, "ccm_outbox_dlq_total").await, "2");
}

#[tokio::test]
async fn the_list_of_dead_letters_comes_in_pages() {
    let service = service().await;
    for n in 0..3 {
        let body = append_body(&n.to_string(), "hi");
        service.post(OUTBOX, &body).await.assert_status(202);
        service.clock.advance(std::time::Duration::from_millis(2));
    }
    let mut keys = Vec::new();
    let mut cursor = String::new();
    loop {
        let path = format!("/admin/tenants/acme/outbox?state=pending&limit=2{cursor}");
        let page = service.call(get(&path).key(&service.operator)).await.json();
        for entry in page["entries"].as_array().unwrap() {
            keys.push(entry["client_message_id"].as_str().unwrap().to_owned());
        }
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(keys, ["0", "1", "2"]);
    for (bad, code) in [
        ("state=x", "invalid_parameter"),
        ("cursor=x", "invalid_cursor"),
    ] {
        let path = format!("/admin/tenants/acme/outbox?{bad}");
        let answer = service.call(get(&path).key(&service.operator)).await;
        answer.assert_problem(422, code);
    }
}
