//! Keys are remembered for a moment, and forgotten at once when this process changes them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use serde_json::json;
use throughline_api::Settings;
use throughline_tenancy::{Scope, Tenancy};

use crate::doubles::SwitchedTenancy;
use crate::service::{Service, append_body, call, get, service, service_with, tenant};

const PATH: &str = "/v1/tenants/acme/users/01J0000000000000000000000A/turns";

struct Switch {
    down: Arc<AtomicBool>,
    asked: Arc<AtomicU32>,
}

async fn switched() -> (Service, Switch) {
    let (down, asked) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicU32::new(0)),
    );
    let switch = Switch {
        down: down.clone(),
        asked: asked.clone(),
    };
    let settings = Settings {
        metrics_open: true,
        ..Settings::default()
    };
    let service = service_with(settings, |capabilities| {
        let inner = capabilities.tenancy.clone();
        capabilities.tenancy = Arc::new(SwitchedTenancy { inner, down, asked });
    })
    .await;
    (service, switch)
}

#[tokio::test]
async fn a_key_is_asked_for_once_and_honoured_while_the_store_is_down() {
    let (service, switch) = switched().await;
    for _ in 0..5 {
        service.get(PATH).await.assert_status(200);
    }
    assert_eq!(switch.asked.load(Ordering::SeqCst), 1);
    switch.down.store(true, Ordering::SeqCst);
    service.get(PATH).await.assert_status(200);
}

// Never 401: a client would throw its good key away.
#[tokio::test]
async fn a_key_that_cannot_be_checked_is_unavailable_and_not_unknown() {
    let (service, switch) = switched().await;
    switch.down.store(true, Ordering::SeqCst);
    let answer = service.get(PATH).await;
    answer.assert_problem(503, "unavailable");
    assert_eq!(answer.header("retry-after"), "1");
    switch.down.store(false, Ordering::SeqCst);
    service.get(PATH).await.assert_status(200);
}

#[tokio::test]
async fn an_unknown_key_is_remembered_too() {
    let (service, switch) = switched().await;
    for _ in 0..5 {
        service
            .call(get(PATH).key("made-up"))
            .await
            .assert_problem(401, "unauthorized");
    }
    assert_eq!(switch.asked.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_revoked_key_is_refused_at_once() {
    let service = service().await;
    service.get(PATH).await.assert_status(200);
    let record = service.store.keys(&tenant("acme")).await.unwrap().remove(0);
    let path = format!("/admin/tenants/acme/keys/{}", record.id);
    for _ in 0..2 {
        let revoked = service
            .call(call("DELETE", &path).key(&service.operator))
            .await;
        revoked.assert_status(200);
        assert!(revoked.json()["revoked_at"].is_string());
        service.get(PATH).await.assert_problem(401, "unauthorized");
    }
}

#[tokio::test]
async fn a_suspended_tenant_is_refused_at_once_and_a_resumed_one_served_at_once() {
    let service = service().await;
    let other = service.mint("acme-corp", &Scope::ALL).await;
    service.get(PATH).await.assert_status(200);
    for (status, expected) in [("suspended", 403), ("active", 200)] {
        let change = call("PATCH", "/admin/tenants/acme").json(&json!({"status": status}));
        service
            .call(change.key(&service.operator))
            .await
            .assert_status(200);
        service.get(PATH).await.assert_status(expected);
        let others = PATH.replace("acme", "acme-corp");
        service
            .call(get(&others).key(&other))
            .await
            .assert_status(200);
    }
}

#[tokio::test]
async fn an_operator_can_revoke_their_own_key() {
    let service = service().await;
    let list = service
        .call(get("/admin/operators/keys").key(&service.operator))
        .await;
    let id = list.json()["keys"][0]["key_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let path = format!("/admin/operators/keys/{id}");
    service
        .call(call("DELETE", &path).key(&service.operator))
        .await
        .assert_status(200);
    let again = service
        .call(get("/admin/operators/keys").key(&service.operator))
        .await;
    again.assert_problem(401, "unauthorized");
}

// an outage that hides behind the key's look-up must not look like quiet.
#[tokio::test]
async fn an_append_whose_key_cannot_be_checked_is_counted_as_not_stored() {
    let (service, switch) = switched().await;
    switch.down.store(true, Ordering::SeqCst);
    let append = service.append(&append_body("k", "hi")).await;
    let batch = json!({"turns": [append_body("k", "hi")]});
    let batch = service.post("/v1/tenants/acme/turns/batch", &batch).await;
    for answer in [append, batch] {
        answer.assert_problem(503, "unavailable");
        assert_eq!(answer.json()["outcome"], "not_stored");
    }
    let read = service.get(PATH).await;
    read.assert_problem(503, "unavailable");
    assert_eq!(read.json().get("outcome"), None);
    let metrics = service.call(get("/metrics")).await.text();
    for series in [
        "ccm_append_failures_total{stage=\"sync\"} 2\n",
        "ccm_write_failures_total{code=\"transport\"} 2\n",
    ] {
        assert!(metrics.contains(series), "{metrics}");
    }
}
