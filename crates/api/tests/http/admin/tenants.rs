//! `/admin/tenants`

use serde_json::{Value, json};

use crate::service::{Answer, Service, call, get, service};

async fn admin(service: &Service, method: &str, path: &str, body: &Value) -> Answer {
    service
        .call(call(method, path).key(&service.operator).json(body))
        .await
}

#[tokio::test]
async fn a_new_tenant_has_the_defaults_but_for_what_was_said() {
    let service = service().await;
    let made = admin(
        &service,
        "POST",
        "/admin/tenants",
        &json!({"tenant": "globex"}),
    )
    .await;
    made.assert_status(201);
    let expected = json!({
        "tenant": "globex", "status": "active", "config": made.json()["config"],
        "config_revision": 1, "erasure_epoch": 0, "created_at": "2023-11-14T22:13:20.000000Z",
    });
    assert_eq!(made.json(), expected);
    assert_eq!(made.json()["config"]["ttl_days"], 90);
    let read = service
        .call(get("/admin/tenants/globex").key(&service.operator))
        .await;
    assert_eq!(read.json(), expected);
    assert_eq!(read.header("etag"), "\"1\"");
    let body = json!({"tenant": "short", "config": {"ttl_days": 7}});
    let short = admin(&service, "POST", "/admin/tenants", &body).await;
    assert_eq!(short.json()["config"]["ttl_days"], 7);
    admin(&service, "POST", "/admin/tenants", &body)
        .await
        .assert_problem(409, "tenant_exists");
}

#[tokio::test]
async fn a_name_or_a_rule_that_cannot_be_is_refused() {
    let service = service().await;
    for (body, code, pointer) in [
        (json!({"tenant": "Globex"}), "invalid_request", "/tenant"),
        (json!({"tenant": ""}), "invalid_request", "/tenant"),
        (json!({}), "invalid_request", ""),
        (
            json!({"tenant": "g", "config": {"ttl_days": 0}}),
            "invalid_config",
            "/config/ttl_days",
        ),
        (
            json!({"tenant": "g", "config": {"ttl": 1}}),
            "invalid_config",
            "/config/ttl",
        ),
        (json!({"tenant_id": "g"}), "reserved_field", "/tenant_id"),
    ] {
        let answer = admin(&service, "POST", "/admin/tenants", &body).await;
        answer.assert_problem(422, code);
        assert_eq!(answer.json()["pointer"], pointer, "{body}");
    }
}

#[tokio::test]
async fn tenants_are_listed_a_page_at_a_time() {
    let service = service().await;
    for name in ["acme_corp", "b", "c"] {
        admin(&service, "POST", "/admin/tenants", &json!({"tenant": name}))
            .await
            .assert_status(201);
    }
    let mut names = Vec::new();
    let mut path = "/admin/tenants?limit=2".to_owned();
    loop {
        let page = service.call(get(&path).key(&service.operator)).await.json();
        let tenants = page["tenants"].as_array().unwrap().clone();
        names.extend(
            tenants
                .iter()
                .map(|t| t["tenant"].as_str().unwrap().to_owned()),
        );
        let Some(cursor) = page.get("next_cursor") else {
            break;
        };
        path = format!("/admin/tenants?limit=2&cursor={}", cursor.as_str().unwrap());
    }
    assert_eq!(names, ["acme", "acme-corp", "acme_corp", "b", "c"]);
    let bad = service
        .call(get("/admin/tenants?cursor=acme").key(&service.operator))
        .await;
    bad.assert_problem(422, "invalid_cursor");
}

#[tokio::test]
async fn a_change_stands_on_the_revision_it_names() {
    let service = service().await;
    let path = "/admin/tenants/acme";
    let change = |days: u32, revision: Option<u64>| json!({"config": {"ttl_days": days}, "config_revision": revision});
    for method in ["PATCH", "PUT"] {
        let read = service.call(get(path).key(&service.operator)).await.json();
        let revision = read["config_revision"].as_u64().unwrap();
        let changed = admin(&service, method, path, &change(7, Some(revision))).await;
        changed.assert_status(200);
        assert_eq!(changed.json()["config_revision"], revision + 1);
        assert_eq!(changed.header("etag"), format!("\"{}\"", revision + 1));
        let stale = admin(&service, method, path, &change(8, Some(revision))).await;
        stale.assert_problem(409, "stale_revision");
        assert_eq!(stale.json()["current_revision"], revision + 1);
        let tagged = call(method, path)
            .key(&service.operator)
            .json(&change(9, None));
        let stale = service
            .call(tagged.header("if-match", &format!("\"{revision}\"")))
            .await;
        stale.assert_problem(409, "stale_revision");
        admin(&service, method, path, &change(10, None))
            .await
            .assert_status(200);
    }
    let stale = json!({"config": {"ttl_days": 1}, "status": "suspended", "config_revision": 1});
    admin(&service, "PATCH", path, &stale)
        .await
        .assert_problem(409, "stale_revision");
    let read = service.call(get(path).key(&service.operator)).await.json();
    assert_eq!(read["status"], "active", "a stale change changes nothing");
}

#[tokio::test]
async fn put_resets_what_it_does_not_name_and_patch_leaves_it() {
    let service = service().await;
    let path = "/admin/tenants/acme";
    let days = |answer: Answer| answer.json()["config"]["ttl_days"].clone();
    let set = json!({"config": {"ttl_days": 7}});
    assert_eq!(days(admin(&service, "PUT", path, &set).await), 7);
    assert_eq!(
        days(admin(&service, "PATCH", path, &json!({"config": {}})).await),
        7
    );
    assert_eq!(
        days(admin(&service, "PUT", path, &json!({"config": {}})).await),
        90
    );
    for (method, body) in [
        ("PUT", json!({})),
        ("PATCH", json!({})),
        ("PATCH", json!({"status": "gone"})),
    ] {
        admin(&service, method, path, &body)
            .await
            .assert_problem(422, "invalid_request");
    }
}

#[tokio::test]
async fn suspending_is_told_and_can_be_taken_back() {
    let service = service().await;
    for status in ["suspended", "suspended", "active"] {
        let body = json!({"status": status});
        let changed = admin(&service, "PATCH", "/admin/tenants/acme", &body).await;
        assert_eq!(changed.json()["status"], status);
        assert_eq!(
            changed.json()["config_revision"],
            1,
            "the rules did not change"
        );
    }
    let unknown = admin(
        &service,
        "PATCH",
        "/admin/tenants/nobody",
        &json!({"status": "active"}),
    )
    .await;
    unknown.assert_problem(404, "unknown_tenant");
}
