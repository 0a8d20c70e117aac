//! Answers that are remembered, served by two servers of one database (docs/adr/0042).

use serde_json::{Value, json};
use throughline_domain::{Clock as _, SystemClock};
use throughline_tests::{Client, Service, World, append_body, recent_texts};

const PAGE: &str = "/v1/tenants/acme/users";

/// Two servers, and one person who said `first` and was read by both.
struct Two {
    world: World,
    second: Service,
    mina: String,
}

impl Two {
    async fn start() -> Self {
        let world = World::start().await;
        let mut second = Service::start(&[], &[("CCM_DATABASE_URL", world.database.url())]);
        second.ready().await;
        let mina = say(&world.acme, "mina", "first").await;
        let two = Self {
            world,
            second,
            mina,
        };
        two.both_show(&["first"]).await;
        two
    }

    fn clients(&self) -> [Client; 2] {
        [
            self.world.acme.clone(),
            self.second.client(self.world.acme.key()),
        ]
    }

    /// Twice at each server: the second time from what it remembers.
    async fn both_show(&self, texts: &[&str]) {
        for client in self.clients() {
            for _ in 0..2 {
                assert_eq!(recent_texts(&client, "acme", &self.mina).await, texts);
            }
        }
    }

    async fn remembered(&self) -> f64 {
        let metrics = self.clients()[1].get("/metrics").await.ok();
        let text = metrics.as_str().expect("text").to_owned();
        let line = r#"ccm_recent_pages_total{outcome="remembered"} "#;
        let value = text.lines().find_map(|found| found.strip_prefix(line));
        value.expect("a series").parse().expect("a number")
    }
}

/// Appends a turn and gives its user.
async fn say(client: &Client, who: &str, text: &str) -> String {
    let body = append_body(who, text, "slack-user", "C1", text);
    let stored = client.post("/v1/tenants/acme/turns", &body).await.ok();
    stored["user_id"].as_str().expect("an id").to_owned()
}

// failures.md 22
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_one_server_stores_the_other_shows_at_once() {
    let two = Two::start().await;
    let [first, second] = two.clients();
    let mut texts = vec!["first".to_owned()];
    for number in 0..20 {
        let text = format!("t{number}");
        say(
            if number % 2 == 0 { &first } else { &second },
            "mina",
            &text,
        )
        .await;
        texts.insert(0, text);
        let expected: Vec<&str> = texts.iter().map(String::as_str).collect();
        two.both_show(&expected).await;
    }
    // One of two reads after each change, and one of the reads before it.
    assert!(two.remembered().await >= 20.0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_one_server_merges_undoes_or_erases_the_other_shows_at_once() {
    let two = Two::start().await;
    let [first, _] = two.clients();
    let nils = say(&first, "nils", "second").await;
    two.both_show(&["first"]).await;
    let operator = &two.world.operator;
    let pair = json!({ "primary_user_id": two.mina, "secondary_user_id": nils });
    let merged = operator.post("/v1/tenants/acme/merges", &pair).await.ok();
    two.both_show(&["second", "first"]).await;
    let merge = merged["merge_id"].as_str().expect("an id");
    let path = format!("/v1/tenants/acme/merges/{merge}");
    operator.delete(&path).await.ok();
    two.both_show(&["first"]).await;
    let path = format!("{PAGE}/{}", two.mina);
    operator.delete(&path).await.ok();
    two.both_show(&[]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_remembered_page_ends_with_the_first_of_its_turns() {
    let two = Two::start().await;
    let [first, _] = two.clients();
    let mut body = append_body("mina", "short", "slack-user", "C1", "short");
    let day = 24 * 3_600_000;
    let said = SystemClock.now().as_millis() - day + 1_500;
    body["turn"]["timestamp_ms"] = Value::from(said);
    let rules = json!({ "config": { "ttl_days": 1 } });
    let path = "/admin/tenants/acme";
    let patched = two
        .world
        .operator
        .call("PATCH".parse().expect("a method"), path, Some(&rules));
    patched.await.expect("answers").ok();
    first.post("/v1/tenants/acme/turns", &body).await.ok();
    let mut shown = Vec::new();
    // It ends within two seconds; until then it is shown, and never again after it was not.
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
    while shown.last() != Some(&1) {
        assert!(std::time::Instant::now() < deadline, "{shown:?}");
        let texts = recent_texts(&first, "acme", &two.mina).await;
        assert!(texts.contains(&"first".to_owned()));
        shown.push(texts.len());
        shown.dedup();
    }
    assert!(shown.is_sorted_by(|one, next| one >= next), "{shown:?}");
    two.both_show(&["first"]).await;
}
