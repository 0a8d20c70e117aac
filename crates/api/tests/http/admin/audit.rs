//! The audit trail over HTTP: read in pages, by operation and time, and exported line by line.

use std::time::Duration;

use serde_json::{Value, json};

use crate::service::{Answer, NOW_MS, Service, append_body, call, get, service};

const AUDIT: &str = "/admin/tenants/acme/audit";

async fn ask(service: &Service, path: &str) -> Answer {
    service.call(get(path).key(&service.operator)).await
}

/// One person for each name, erased one after the other, a second apart; the first two were merged.
async fn eventful(service: &Service) {
    let mut users = Vec::new();
    for name in ["U1", "U2", "U3"] {
        let mut body = append_body(name, "a secret word");
        body["ref"]["id"] = json!(name);
        let answer = service.append(&body).await;
        users.push(answer.json()["user_id"].as_str().unwrap().to_owned());
    }
    let body = json!({"primary_user_id": users[0], "secondary_user_id": users[1]});
    let merge = call("POST", "/v1/tenants/acme/merges").key(&service.operator);
    service.call(merge.json(&body)).await.assert_status(201);
    for user in &users[1..] {
        service.clock.advance(Duration::from_secs(1));
        let path = format!("/v1/tenants/acme/users/{user}");
        let erase = call("DELETE", &path).key(&service.operator);
        service.call(erase).await.assert_status(200);
    }
}

fn ops(answer: &Answer) -> Vec<Value> {
    let events = answer.json()["events"].clone();
    let events = events.as_array().unwrap().clone();
    events
        .into_iter()
        .map(|event| event["op"].clone())
        .collect()
}

#[tokio::test]
async fn the_trail_says_what_was_done_and_never_what_was_said() {
    let service = service().await;
    eventful(&service).await;
    let answer = ask(&service, AUDIT).await;
    answer.assert_status(200);
    assert_eq!(
        ops(&answer),
        ["forget_user", "forget_user", "merge_identities"]
    );
    assert_eq!(answer.json().get("next_cursor"), None);
    let erased = &answer.json()["events"][1];
    assert_eq!(erased["actor"], "olga");
    assert_eq!(
        erased["detail"],
        json!({"deletedTurns": 2, "deletedIdentities": 2, "deletedAuditRows": 0,
            "nullifiedAuditRows": 1})
    );
    let merged = &answer.json()["events"][2];
    assert_eq!(
        merged["detail"],
        json!({"primaryUserId": null, "secondaryUserId": null, "mergedIdentities": 1,
            "source": "manual"})
    );
    assert_eq!(
        (merged.get("user_id"), merged.get("target_id")),
        (None, None)
    );
    assert!(!answer.text().contains("secret"));
}

#[tokio::test]
async fn the_trail_is_read_page_by_page_and_by_what_is_asked() {
    let service = service().await;
    eventful(&service).await;
    let whole = ask(&service, AUDIT).await.json()["events"].clone();
    let mut paged = Vec::new();
    let mut path = format!("{AUDIT}?limit=1");
    loop {
        let page = ask(&service, &path).await;
        page.assert_status(200);
        paged.extend(page.json()["events"].as_array().unwrap().clone());
        match page.json().get("next_cursor") {
            Some(cursor) => path = format!("{AUDIT}?limit=1&cursor={}", cursor.as_str().unwrap()),
            None => break,
        }
    }
    assert_eq!(Value::from(paged), whole);

    let merges = ask(&service, &format!("{AUDIT}?op=merge_identities")).await;
    assert_eq!(ops(&merges), ["merge_identities"]);
    let (from, to) = (NOW_MS + 1_000, NOW_MS + 2_000);
    let between = ask(&service, &format!("{AUDIT}?since_ms={from}&until_ms={to}")).await;
    assert_eq!(ops(&between), ["forget_user"]);
    for (bad, code) in [
        ("op=everything", "invalid_parameter"),
        ("op=", "invalid_parameter"),
        ("since_ms=x", "invalid_parameter"),
        ("limit=0", "invalid_limit"),
        ("cursor=x", "invalid_cursor"),
    ] {
        ask(&service, &format!("{AUDIT}?{bad}"))
            .await
            .assert_problem(422, code);
    }
    ask(&service, "/admin/tenants/nobody/audit")
        .await
        .assert_problem(404, "unknown_tenant");
}

#[tokio::test]
async fn an_export_is_the_trail_line_by_line() {
    let service = service().await;
    eventful(&service).await;
    let listed = ask(&service, AUDIT).await.json()["events"].clone();
    let lines = |answer: &Answer| -> Vec<Value> {
        let text = answer.text();
        assert!(text.is_empty() || text.ends_with('\n'));
        let lines = text.lines();
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    };
    let export = ask(&service, &format!("{AUDIT}/export")).await;
    export.assert_status(200);
    assert_eq!(export.header("content-type"), "application/x-ndjson");
    assert_eq!(Value::from(lines(&export)), listed);
    let some = ask(&service, &format!("{AUDIT}/export?op=merge_identities")).await;
    assert_eq!(lines(&some).len(), 1);
    let empty = ask(&service, "/admin/tenants/acme-corp/audit/export").await;
    empty.assert_status(200);
    assert_eq!(lines(&empty), [Value::Null; 0]);
    ask(&service, "/admin/tenants/nobody/audit/export")
        .await
        .assert_problem(404, "unknown_tenant");
    ask(&service, &format!("{AUDIT}/export?op=x"))
        .await
        .assert_problem(422, "invalid_parameter");
}

#[tokio::test]
async fn an_export_goes_over_many_pages() {
    let service = service().await;
    for number in 0..501 {
        let mut body = append_body(&number.to_string(), "hi");
        body["ref"]["id"] = json!(number.to_string());
        let user = service.append(&body).await.json()["user_id"].clone();
        let path = format!("/v1/tenants/acme/users/{}", user.as_str().unwrap());
        let erase = call("DELETE", &path).key(&service.operator);
        service.call(erase).await.assert_status(200);
    }
    let export = ask(&service, &format!("{AUDIT}/export")).await;
    let text = export.text();
    let ids: std::collections::BTreeSet<String> = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].to_string())
        .collect();
    assert_eq!((text.lines().count(), ids.len()), (501, 501));
}
