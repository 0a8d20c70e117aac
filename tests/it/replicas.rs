//! Two servers on one database.

use std::collections::BTreeSet;

use serde_json::Value;
use throughline_tests::{Client, Service, World, append_body, recent_texts};

async fn second_replica(world: &World) -> (Service, Client) {
    let mut service = Service::start(&[], &[("CCM_DATABASE_URL", world.database.url())]);
    service.ready().await;
    let client = service.client(world.acme.key());
    (service, client)
}

async fn concurrently(clients: &[&Client], bodies: &[Value]) -> Vec<(u16, Value)> {
    let calls = bodies.iter().enumerate().map(|(number, body)| {
        let client = clients[number % clients.len()].clone();
        let body = body.clone();
        async move {
            let answer = client.post("/v1/tenants/acme/turns", &body).await;
            (answer.status.as_u16(), answer.body)
        }
    });
    let mut tasks = tokio::task::JoinSet::new();
    for call in calls {
        tasks.spawn(call);
    }
    tasks.join_all().await
}

// failures.md 3 and 22
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_first_appends_with_one_key_are_one_turn_of_one_user() {
    let world = World::start().await;
    let (_service, other) = second_replica(&world).await;
    let body = append_body("mina", "k", "slack-user", "C1", "hello");
    let answers = concurrently(&[&world.acme, &other], &vec![body; 50]).await;
    let ids: BTreeSet<&str> = answers
        .iter()
        .filter_map(|a| a.1["message_id"].as_str())
        .collect();
    assert_eq!(ids.len(), 1, "{answers:?}");
    assert_eq!(answers.iter().filter(|answer| answer.0 == 201).count(), 1);
    assert_eq!(answers.iter().filter(|answer| answer.0 == 200).count(), 49);
    let user = answers[0].1["user_id"].as_str().expect("an id");
    assert_eq!(recent_texts(&other, "acme", user).await, ["hello"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_keys_are_fifty_turns_with_counters_to_match() {
    let world = World::start().await;
    let (_service, other) = second_replica(&world).await;
    let bodies: Vec<Value> = (0..50)
        .map(|n| append_body("mina", &format!("k{n}"), "slack-user", "C1", "hello"))
        .collect();
    let answers = concurrently(&[&world.acme, &other], &bodies).await;
    assert!(answers.iter().all(|answer| answer.0 == 201), "{answers:?}");
    let user = answers[0].1["user_id"].as_str().expect("an id");
    let user = world
        .acme
        .get(&format!("/v1/tenants/acme/users/{user}"))
        .await
        .ok();
    assert_eq!(
        (&user["turn_count"], &user["byte_count"]),
        (&50.into(), &250.into())
    );
}
