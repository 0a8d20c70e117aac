//! The main job: asked on the train, known at the desk.

use serde_json::json;
use throughline_tests::{Service, World, append_body, recent_texts};

#[tokio::test]
async fn what_was_said_on_the_train_is_known_at_the_desk_even_after_a_restart() {
    let mut world = World::start().await;
    let turns = "/v1/tenants/acme/turns";
    let body = append_body(
        "mina",
        "tg:1",
        "telegram-chat",
        "4711",
        "Book the 9:02 to Bern",
    );
    let first = world.acme.post(turns, &body).await.ok();
    let user = first["user_id"].as_str().expect("an id").to_owned();
    let body = append_body("mina", "teams:1", "teams-aad", "19:abc", "Which platform?");
    world.acme.post(turns, &body).await.ok();

    world.service = Service::start(&[], &[("CCM_DATABASE_URL", world.database.url())]);
    world.service.ready().await;
    let key = world.acme.key().to_owned();
    let desk = world.service.client(&key);

    assert_eq!(
        recent_texts(&desk, "acme", &user).await,
        ["Which platform?", "Book the 9:02 to Bern"]
    );
    let context = desk
        .get(&format!("/v1/tenants/acme/users/{user}/context"))
        .await
        .ok();
    let block = context["block"].as_str().expect("a block");
    assert!(
        block.starts_with("## Recent context from other channels\n"),
        "{block}"
    );
    assert!(
        block.contains("telegram-chat, just now, user: Book the 9:02 to Bern"),
        "{block}"
    );
    assert_eq!(context["turn_ids"].as_array().map(Vec::len), Some(2));
}

#[tokio::test]
async fn a_retry_after_a_restart_finds_the_first_turn() {
    let mut world = World::start().await;
    let body = append_body("mina", "tg:1", "telegram-chat", "4711", "hello");
    let first = world.acme.post("/v1/tenants/acme/turns", &body).await;
    assert_eq!(first.status, 201);
    world.service = Service::start(&[], &[("CCM_DATABASE_URL", world.database.url())]);
    world.service.ready().await;
    let again = world
        .service
        .client(world.acme.key())
        .post("/v1/tenants/acme/turns", &body)
        .await;
    assert_eq!(again.status, 200);
    assert_eq!(again.body["duplicate"], json!(true));
    assert_eq!(again.body["message_id"], first.body["message_id"]);
}
