//! SIGTERM: what runs is finished, what is new is turned away.

use std::time::Duration;

use rustix::process::Signal;
use throughline_tests::{World, append_body, recent_texts};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sigterm_under_load_answers_what_it_took_and_loses_nothing_it_acknowledged() {
    let mut world = World::start().await;
    let mut writers = tokio::task::JoinSet::new();
    for writer in 0..8 {
        let client = world.acme.clone();
        writers.spawn(async move {
            let mut stored = Vec::new();
            for number in 0.. {
                let text = format!("{writer}-{number}");
                let body = append_body("mina", &text, "slack-user", "C1", &text);
                match client
                    .call(http::Method::POST, "/v1/tenants/acme/turns", Some(&body))
                    .await
                {
                    Ok(answer) if answer.status == 201 => stored.push(text),
                    // Turned away or no longer there: either is a clear answer.
                    Ok(answer) if answer.status == 503 => break,
                    Ok(answer) => panic!("{answer:?}"),
                    Err(_) => break,
                }
            }
            stored
        });
    }
    tokio::time::sleep(Duration::from_millis(400)).await;
    world.service.signal(Signal::TERM);
    let status = world.service.ended(Duration::from_secs(15)).await;
    assert!(status.success(), "{status}\n{}", world.service.log());
    let acknowledged: Vec<String> = writers.join_all().await.concat();
    assert!(acknowledged.len() > 8, "the load ran");

    world.service =
        throughline_tests::Service::start(&[], &[("CCM_DATABASE_URL", world.database.url())]);
    world.service.ready().await;
    let client = world.service.client(world.acme.key());
    let user = client
        .get("/v1/tenants/acme/identities?kind=custom&id=mina")
        .await
        .ok();
    let user = user["user_id"].as_str().expect("an id");
    let stored = recent_texts(&client, "acme", user).await;
    for text in &acknowledged {
        assert_eq!(
            stored.iter().filter(|stored| *stored == text).count(),
            1,
            "{text}"
        );
    }
}
