//! Merging, undoing, reviewing and erasing over HTTP.

use serde_json::{Value, json};
use throughline_tenancy::Scope;

use crate::service::{Answer, NOW_MS, Service, append_body, call, service};

async fn as_operator(service: &Service, method: &str, path: &str, body: &Value) -> Answer {
    let call = call(method, path).key(&service.operator);
    service.call(call.json(body)).await
}

/// Two people with a turn each, told apart by their channel id.
async fn two(service: &Service) -> (String, String) {
    let mut users = Vec::new();
    for id in ["U1", "U2"] {
        let mut body = append_body(&format!("key {id}"), &format!("{id} speaks"));
        body["ref"]["id"] = json!(id);
        let answer = service.append(&body).await;
        users.push(answer.json()["user_id"].as_str().unwrap().to_owned());
    }
    let second = users.pop().unwrap();
    (users.pop().unwrap(), second)
}

async fn turns_of(service: &Service, user: &str) -> usize {
    let answer = service
        .get(&format!("/v1/tenants/acme/users/{user}/turns"))
        .await;
    answer.assert_status(200);
    answer.json()["turns"].as_array().unwrap().len()
}

#[tokio::test]
async fn an_operator_merges_and_takes_it_back() {
    let service = service().await;
    let (one, two) = two(&service).await;
    let body = json!({"primary_user_id": one, "secondary_user_id": two, "source": "manual"});
    let merged = as_operator(&service, "POST", "/v1/tenants/acme/merges", &body).await;
    merged.assert_status(201);
    assert_eq!(merged.json()["user_id"], json!(one));
    assert_eq!(merged.json()["merged_identities"], 1);
    assert_eq!(merged.json()["moved_turns"], 1);
    assert_eq!(turns_of(&service, &two).await, 2);
    as_operator(&service, "POST", "/v1/tenants/acme/merges", &body)
        .await
        .assert_problem(409, "no_change");

    // A turn by the second ref, while they are one, goes back with it.
    let mut late = append_body("late", "by U2");
    late["ref"]["id"] = json!("U2");
    let stored = service.append(&late).await;
    stored.assert_status(201);
    assert_eq!(stored.json()["user_id"], json!(one));

    let list = format!("/v1/tenants/acme/merges?user_id={two}");
    let list = as_operator(&service, "GET", &list, &json!({})).await.json();
    assert_eq!(list["merges"][0]["merge_id"], merged.json()["merge_id"]);
    let id = merged.json()["merge_id"].as_str().unwrap().to_owned();
    let path = format!("/v1/tenants/acme/merges/{id}");
    let undone = as_operator(&service, "DELETE", &path, &json!({})).await;
    undone.assert_status(200);
    assert_eq!(undone.json()["restored_turns"], 2);
    assert_eq!(
        (
            turns_of(&service, &one).await,
            turns_of(&service, &two).await
        ),
        (1, 2)
    );
    as_operator(&service, "DELETE", &path, &json!({}))
        .await
        .assert_problem(409, "already_undone");
    let unknown = "/v1/tenants/acme/merges/01J0000000000000000000000A";
    as_operator(&service, "DELETE", unknown, &json!({}))
        .await
        .assert_problem(404, "unknown_merge");
}

#[tokio::test]
async fn a_key_proposes_and_an_operator_decides() {
    let service = service().await;
    let (one, two) = two(&service).await;
    let key = service.mint("acme", &[Scope::IdentityMerge]).await;
    let body = json!({"primary_user_id": one, "secondary_user_id": two});
    let propose = || {
        call("POST", "/v1/tenants/acme/merges")
            .key(&key)
            .json(&body)
    };
    let asked = service.call(propose()).await;
    asked.assert_status(202);
    assert_eq!(turns_of(&service, &two).await, 1, "nothing moved");
    let again = service.call(propose()).await;
    assert_eq!(again.json(), asked.json());

    let listed = as_operator(&service, "GET", "/admin/tenants/acme/reviews", &json!({})).await;
    let review = listed.json()["reviews"][0].clone();
    assert_eq!(review["review_id"], asked.json()["review_id"]);
    assert_eq!(
        (&review["reason"], &review["state"]),
        (&json!("proposal"), &json!("open"))
    );
    assert!(review["proposed_by"].as_str().unwrap().starts_with("key "));

    let id = review["review_id"].as_str().unwrap();
    let path = format!("/admin/tenants/acme/reviews/{id}/accept");
    for bad in [json!({"reason": " "}), json!({})] {
        as_operator(&service, "POST", &path, &bad)
            .await
            .assert_problem(422, "invalid_request");
    }
    let accepted = as_operator(&service, "POST", &path, &json!({"reason": "same passport"})).await;
    accepted.assert_status(200);
    assert_eq!(accepted.json()["state"], "accepted");
    assert_eq!(accepted.json()["decided_by"], "olga");
    assert_eq!(turns_of(&service, &two).await, 2);
    let decline = format!("/admin/tenants/acme/reviews/{id}/decline");
    as_operator(&service, "POST", &decline, &json!({"reason": "no"}))
        .await
        .assert_problem(409, "already_decided");
}

#[tokio::test]
async fn a_caller_cannot_claim_an_address_as_the_source() {
    let service = service().await;
    let (one, two) = two(&service).await;
    for source in ["auto-email", "", "me"] {
        let body = json!({"primary_user_id": one, "secondary_user_id": two, "source": source});
        let answer = as_operator(&service, "POST", "/v1/tenants/acme/merges", &body).await;
        answer.assert_problem(422, "invalid_request");
    }
    let body = json!({"primary_user_id": one, "secondary_user_id": two, "tenant_id": "acme"});
    let answer = as_operator(&service, "POST", "/v1/tenants/acme/merges", &body).await;
    answer.assert_problem(422, "reserved_field");
}

#[tokio::test]
async fn a_rehearsal_a_receipt_and_nothing_left() {
    let service = service().await;
    let (one, _) = two(&service).await;
    let path = format!("/v1/tenants/acme/users/{one}");
    let rehearse = format!("{path}?dry_run=true");
    let rehearsed = as_operator(&service, "DELETE", &rehearse, &json!({})).await;
    rehearsed.assert_status(200);
    assert_eq!(turns_of(&service, &one).await, 1);
    for bad in [
        "dry_run=yes",
        "dry_run=",
        "dry_run=TRUE",
        "dryrun=true",
        "dry-run=true",
        "dry_run%20=true",
        "dry_run=true&user_ids=all",
    ] {
        as_operator(&service, "DELETE", &format!("{path}?{bad}"), &json!({}))
            .await
            .assert_problem(422, "invalid_parameter");
    }
    assert_eq!(turns_of(&service, &one).await, 1, "nothing was erased");

    let erased = as_operator(&service, "DELETE", &path, &json!({}))
        .await
        .json();
    let mut expected = rehearsed.json();
    expected["dry_run"] = json!(false);
    expected["erasure_epoch"] = json!(1);
    assert_eq!(erased, expected);
    assert_eq!(
        (&erased["outcome"], &erased["deleted_turns"]),
        (&json!("erased"), &json!(1))
    );
    let again = as_operator(&service, "DELETE", &path, &json!({}))
        .await
        .json();
    assert_eq!(again["outcome"], "nothing_left");
    service.get(&path).await.assert_problem(404, "unknown_user");

    // The same key is gone for good; a fresh message is somebody new.
    let retried = service.append(&append_body("key U1", "U1 speaks")).await;
    retried.assert_problem(410, "gone");
    let fresh = service.append(&append_body("fresh", "hello")).await;
    fresh.assert_status(201);
    assert_ne!(fresh.json()["user_id"], json!(one));
}

#[tokio::test]
async fn every_answer_about_a_tenant_carries_its_erasure_epoch() {
    let service = service().await;
    let (one, two) = two(&service).await;
    let epoch = async |round: &str| {
        // A key of an erased turn would be refused.
        let said = |what: &str| append_body(&format!("{what} {round}"), "hello");
        let read = service
            .get(&format!("/v1/tenants/acme/users/{two}/turns"))
            .await;
        let append = service.append(&said("append")).await;
        let looked =
            service.get("/v1/tenants/acme/history?channel_kind=slack-user&channel_scope=C1");
        let context = format!("/v1/tenants/acme/users/{two}/context");
        let context = service.get(&context);
        let batch = json!({"turns": [said("batch")]});
        let batch = service.post("/v1/tenants/acme/turns/batch", &batch);
        let waiting = said("waiting");
        let queued = service.post("/v1/tenants/acme/outbox", &waiting);
        let answers = [
            read,
            append,
            looked.await,
            context.await,
            batch.await,
            queued.await,
        ];
        let epochs = answers.map(|answer| {
            let header = answer.header("x-erasure-epoch").to_owned();
            assert_eq!(answer.json()["erasure_epoch"].to_string(), header);
            header
        });
        assert!(epochs.iter().all(|epoch| *epoch == epochs[0]), "{epochs:?}");
        epochs[0].clone()
    };
    assert_eq!(epoch("before").await, "0");
    let path = format!("/v1/tenants/acme/users/{one}");
    as_operator(&service, "DELETE", &path, &json!({}))
        .await
        .assert_status(200);
    assert_eq!(epoch("after").await, "1");
}

/// T-37, failures.md 15: one turn, several, or a look-up for what was said before is refused, and makes
/// nobody; what is said after the erasure is of somebody new.
#[tokio::test]
async fn what_waited_with_its_channel_for_an_erased_person_does_not_come_back() {
    const LATER: i64 = NOW_MS + 60_000;
    let service = service().await;
    let user = service.said("first", "hello").await;
    let path = format!("/v1/tenants/acme/users/{user}");
    as_operator(&service, "DELETE", &path, &json!({}))
        .await
        .assert_status(200);
    service
        .clock
        .advance(std::time::Duration::from_millis(60_000));
    let said = |key: &str, at: i64| {
        let mut body = append_body(key, "old words");
        body["turn"]["timestamp_ms"] = json!(at);
        body
    };
    let old = service.append(&said("old", NOW_MS)).await;
    old.assert_problem(410, "gone");
    assert_eq!(old.json()["client_message_id"], "old");
    let resolve = "/v1/tenants/acme/identities/resolve";
    let asked = json!({"ref": append_body("", "")["ref"], "timestamp_ms": NOW_MS});
    let answer = service.post(resolve, &asked).await;
    answer.assert_problem(410, "gone");
    let found = "/v1/tenants/acme/identities?kind=slack-user&id=U1";
    service.get(found).await.assert_problem(404, "unknown_user");

    let turns = json!({"turns": [
        said("later", LATER), said("old", NOW_MS), append_body("now", "now"), said("older", NOW_MS - 1),
    ]});
    let answer = service.post("/v1/tenants/acme/turns/batch", &turns).await;
    let answer = answer.json();
    let results = answer["results"].as_array().unwrap();
    let statuses: Vec<u64> = results
        .iter()
        .map(|result| result["status"].as_u64().unwrap())
        .collect();
    assert_eq!(statuses, [201, 410, 201, 410]);
    assert_eq!(results[0]["user_id"], results[2]["user_id"]);
    assert_ne!(results[0]["user_id"], json!(user));
    let known = service.append(&said("old", NOW_MS)).await;
    known.assert_problem(410, "gone");
}

/// The turn waited with its channel before it waited here.
#[tokio::test]
async fn a_queued_turn_is_as_old_as_its_words() {
    let service = service().await;
    let user = service.said("first", "hello").await;
    let path = format!("/v1/tenants/acme/users/{user}");
    as_operator(&service, "DELETE", &path, &json!({}))
        .await
        .assert_status(200);
    service.clock.advance(std::time::Duration::from_secs(60));
    let mut waiting = append_body("waiting", "old words");
    waiting["turn"]["timestamp_ms"] = json!(NOW_MS);
    let queued = service.post("/v1/tenants/acme/outbox", &waiting).await;
    queued.assert_status(202);
    let drained = as_operator(&service, "POST", "/admin/jobs/outbox/run", &json!({})).await;
    assert_eq!(drained.json()["queue"]["stored"], 0);
    let found = "/v1/tenants/acme/identities?kind=slack-user&id=U1";
    service.get(found).await.assert_problem(404, "unknown_user");
}

/// T-37, failures.md 15
#[tokio::test]
async fn what_waited_for_an_erased_channel_user_does_not_come_back() {
    let service = service().await;
    let user = service.said("first", "hello").await;
    let waiting = append_body("waiting", "old words");
    let queued = service.post("/v1/tenants/acme/outbox", &waiting).await;
    queued.assert_status(202);
    let path = format!("/v1/tenants/acme/users/{user}");
    let erased = as_operator(&service, "DELETE", &path, &json!({})).await;
    let receipt = erased.json();
    assert_eq!(
        (&receipt["deleted_outbox"], &receipt["tombstoned_refs"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(receipt["deleted_spooled"], 0);
    let drain = "/admin/jobs/outbox/run";
    as_operator(&service, "POST", drain, &json!({}))
        .await
        .assert_status(200);
    let found = service
        .get("/v1/tenants/acme/identities?kind=slack-user&id=U1")
        .await;
    found.assert_problem(404, "unknown_user");

    service.clock.advance(std::time::Duration::from_secs(1));
    let fresh = append_body("fresh", "new words");
    let queued = service.post("/v1/tenants/acme/outbox", &fresh).await;
    queued.assert_status(202);
    let drained = as_operator(&service, "POST", drain, &json!({})).await;
    assert_eq!(drained.json()["queue"]["stored"], 1);
    let found = service
        .get("/v1/tenants/acme/identities?kind=slack-user&id=U1")
        .await;
    let again = found.json()["user_id"].as_str().unwrap().to_owned();
    assert_ne!(again, user);
    assert_eq!(turns_of(&service, &again).await, 1);
}

/// D-07 c
#[tokio::test]
async fn an_operator_revokes_a_claim() {
    let service = service().await;
    let joining = json!({"config": {"auto_merge_on_email": true}});
    as_operator(&service, "PATCH", "/admin/tenants/acme", &joining)
        .await
        .assert_status(200);
    let who = json!({"ref": {"kind": "teams-aad", "id": "T1", "email": "mina@corp.example",
        "email_verified": true}});
    let mina = service
        .post("/v1/tenants/acme/identities/resolve", &who)
        .await;
    mina.assert_status(200);
    let path = "/admin/tenants/acme/claims/revoke";
    let body = json!({"email": "Mina@Corp.Example"});
    let revoked = as_operator(&service, "POST", path, &body).await;
    revoked.assert_status(200);
    assert_eq!(
        revoked.json(),
        json!({"user_id": mina.json()["user_id"], "previous_state": "live", "state": "revoked"})
    );
    as_operator(&service, "POST", path, &body)
        .await
        .assert_problem(409, "no_change");
    let nobodys = json!({"email": "nobody@corp.example"});
    as_operator(&service, "POST", path, &nobodys)
        .await
        .assert_problem(404, "unknown_claim");
    for bad in [json!({"email": "a@b@c"}), json!({"email": ""}), json!({})] {
        as_operator(&service, "POST", path, &bad)
            .await
            .assert_problem(422, "invalid_request");
    }
}

/// T-05
#[tokio::test]
async fn what_a_group_says_is_read_in_its_scope_only() {
    let service = service().await;
    let mut body = append_body("k", "hello all");
    body["ref"]["shared"] = json!(true);
    let answer = service.append(&body).await;
    answer.assert_status(201);
    let user = answer.json()["user_id"].as_str().unwrap().to_owned();
    assert_eq!(turns_of(&service, &user).await, 0);
    let history = "/v1/tenants/acme/history?channel_kind=slack-user&channel_scope=C1";
    assert_eq!(service.get(history).await.messages(), ["hello all"]);
    let known = service.get(&format!("/v1/tenants/acme/users/{user}")).await;
    assert_eq!(known.json()["identities"][0]["shared"], true);
}
