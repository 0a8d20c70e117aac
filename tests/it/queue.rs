//! A database that is slow or away costs no turn, for whoever asked to be queued.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use http::Method;
use rustix::process::Signal;
use serde_json::{Value, json};
use tempfile::TempDir;
use throughline_scratch_postgres::{Server, Settings};
use throughline_tests::{
    CLIENT_SCOPES, Client, Service, World, append_body, operator_key, recent_texts, tenant_client,
    throughline,
};

const APPEND: &str = "/v1/tenants/acme/turns?on_unavailable=queue";
const BATCH: &str = "/v1/tenants/acme/turns/batch?on_unavailable=queue";

/// A service with a spool on a Postgres that can be stopped.
struct Outage {
    service: Service,
    acme: Client,
    /// With a good key that the service has never seen.
    stranger: Client,
    postgres: Server,
    directory: TempDir,
}

fn serve(url: &str, directory: &Path) -> Service {
    let key = "5a".repeat(32);
    let directory = directory.to_str().expect("a plain path");
    let environment = [
        ("CCM_DATABASE_URL", url),
        ("CCM_SPOOL_DIR", directory),
        ("CCM_SPOOL_KEY", key.as_str()),
        // Every request asks for its key: an outage is met at once.
        ("CCM_KEY_CACHE", "0s"),
        ("CCM_RATE_LIMIT", "off"),
    ];
    Service::start(&["--migrate"], &environment)
}

impl Outage {
    async fn prepare() -> Self {
        // Killed in the middle of it, and what it acknowledged has to be there afterwards.
        let postgres = Server::start(Settings::durable()).expect("a Postgres of its own");
        let directory = tempfile::tempdir().expect("a directory");
        let url = postgres.url("postgres");
        let mut service = serve(&url, directory.path());
        service.ready().await;
        let operator = service.client(&operator_key(&url));
        let acme = tenant_client(&operator, "acme", &CLIENT_SCOPES).await;
        let stranger = tenant_client(&operator, "other", &CLIENT_SCOPES).await;
        let first = append_body("mina", "first", "slack-user", "C1", "first");
        acme.post("/v1/tenants/acme/turns", &first).await.ok();
        Self {
            service,
            acme,
            stranger,
            postgres,
            directory,
        }
    }

    /// Sends these, all at once, and expects 202 for each.
    async fn queue(&self, keys: impl Iterator<Item = String>) {
        let mut callers = tokio::task::JoinSet::new();
        for key in keys {
            let client = self.acme.clone();
            callers.spawn(async move {
                let body = append_body("mina", &key, "slack-user", "C1", &key);
                let answer = client.call(Method::POST, APPEND, Some(&body)).await;
                let answer = answer.expect("the service answers");
                assert_eq!(answer.status, 202, "{answer:?}");
                assert_eq!(
                    answer.body,
                    json!({"client_message_id": key, "queued": true, "erasure_epoch": 0})
                );
            });
        }
        callers.join_all().await;
    }

    async fn spooled(&self) -> String {
        metric(&self.acme, "ccm_spool_entries").await
    }

    /// Waits until that many of the person's turns are stored, and gives them.
    async fn stored(&self, client: &Client, count: usize) -> (Vec<String>, Duration) {
        let begun = Instant::now();
        loop {
            let mut texts = texts_of(client, "mina").await;
            if texts.len() >= count {
                texts.sort_unstable();
                return (texts, begun.elapsed());
            }
            assert!(
                begun.elapsed() < Duration::from_secs(40),
                "only {} of {count} are stored\n{}",
                texts.len(),
                self.service.log()
            );
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}

async fn metric(client: &Client, name: &str) -> String {
    let text = client.get("/metrics").await.ok();
    let text = text.as_str().expect("text");
    let found = text
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    found.expect("the series is there").to_owned()
}

/// Empty while the database is away or the person is not known.
async fn texts_of(client: &Client, person: &str) -> Vec<String> {
    let path = format!("/v1/tenants/acme/identities?kind=custom&id={person}");
    let found = client.get(&path).await;
    match found.body["user_id"].as_str() {
        Some(user) if found.status == 200 => recent_texts(client, "acme", user).await,
        _ => Vec::new(),
    }
}

fn sorted(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut texts: Vec<String> = texts.collect();
    texts.sort_unstable();
    texts
}

// T-39, D-15
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn appends_of_an_outage_are_queued_and_all_are_stored_once() {
    let outage = Outage::prepare().await;
    outage.postgres.kill().expect("killed");
    let begun = Instant::now();
    outage.queue((0..100).map(|n| format!("one{n}"))).await;
    let took = begun.elapsed();
    // A retry is the same entry; a batch is queued turn by turn; nobody else is let in.
    outage.queue((0..10).map(|n| format!("one{n}"))).await;
    let turns: Vec<Value> = (0..50)
        .map(|n| {
            append_body(
                "mina",
                &format!("many{n}"),
                "slack-user",
                "C1",
                &format!("many{n}"),
            )
        })
        .collect();
    let batch = outage
        .acme
        .post(BATCH, &json!({ "turns": turns }))
        .await
        .ok();
    for result in batch["results"].as_array().expect("results") {
        assert_eq!(result["status"], 202, "{result}");
    }
    let path = APPEND.replace("acme", "other");
    let unseen = outage.stranger.post(&path, &turns[0]).await;
    assert_eq!(
        (unseen.status.as_u16(), unseen.code()),
        (503, "unavailable")
    );
    assert_eq!(outage.spooled().await, "150");

    outage.postgres.restart().expect("comes back");
    let (texts, back) = outage.stored(&outage.acme, 151).await;
    let expected = (0..100)
        .map(|n| format!("one{n}"))
        .chain((0..50).map(|n| format!("many{n}")))
        .chain(["first".to_owned()]);
    assert_eq!(texts, sorted(expected));
    // Acknowledged in the spool a moment after the store has them.
    while outage.spooled().await != "0" {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    println!(
        "100 appends answered 202 in {took:?}; 150 stored {back:?} after the database was back"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_service_loses_nothing_that_it_queued() {
    let mut outage = Outage::prepare().await;
    outage.postgres.kill().expect("killed");
    outage.queue((0..100).map(|n| format!("k{n}"))).await;
    outage.service.signal(Signal::KILL);
    outage.service.ended(Duration::from_secs(5)).await;
    outage.postgres.restart().expect("comes back");
    let url = outage.postgres.url("postgres");
    outage.service = serve(&url, outage.directory.path());
    outage.service.ready().await;
    let client = outage.service.client(outage.acme.key());
    let (texts, back) = outage.stored(&client, 101).await;
    let expected = (0..100)
        .map(|n| format!("k{n}"))
        .chain(["first".to_owned()]);
    assert_eq!(texts, sorted(expected));
    println!("100 entries survived kill -9; stored {back:?} after the start");
}

// T-39: the database answers, and one user's row is stuck.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_append_that_meets_a_lock_is_queued_in_the_database() {
    let world = Arc::new(World::start().await);
    let slow = [
        ("CCM_DATABASE_URL", world.database.url()),
        ("CCM_STATEMENT_TIMEOUT", "300ms"),
    ];
    let mut service = Service::start(&[], &slow);
    service.ready().await;
    let acme = service.client(world.acme.key());
    let first = append_body("mina", "first", "slack-user", "C1", "first");
    acme.post("/v1/tenants/acme/turns", &first).await.ok();
    let locker = Arc::clone(&world);
    let stuck = tokio::task::spawn_blocking(move || {
        let lock = "begin; select from users for no key update; select pg_sleep(4); commit;";
        locker.database.psql(lock)
    });
    tokio::time::sleep(Duration::from_millis(700)).await;
    let body = append_body("mina", "k1", "slack-user", "C1", "k1");
    let refused = acme.post("/v1/tenants/acme/turns", &body).await;
    assert_eq!(
        (refused.status.as_u16(), refused.code()),
        (503, "unavailable")
    );
    let queued = acme.post(APPEND, &body).await;
    assert_eq!(queued.status, 202, "{queued:?}");
    stuck.await.expect("joins").expect("psql runs");
    let run = service.client(world.operator.key());
    let begun = Instant::now();
    while texts_of(&acme, "mina").await.len() < 2 {
        // 409 while the run by the clock goes.
        let ran = run.post("/admin/jobs/outbox/run", &json!({})).await;
        assert!([200, 409].contains(&ran.status.as_u16()), "{ran:?}");
        assert!(
            begun.elapsed() < Duration::from_secs(30),
            "{}",
            service.log()
        );
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let listed = run.get("/admin/tenants/acme/outbox?state=pending").await;
    assert_eq!(listed.ok(), json!({"entries": []}));
}

// the drain is a job like any other.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_jobs_off_the_outbox_is_emptied_by_hand_and_on_request() {
    let world = World::start().await;
    let url = world.database.url();
    let mut service = Service::start(&["--jobs", "off"], &[("CCM_DATABASE_URL", url)]);
    service.ready().await;
    let acme = service.client(world.acme.key());
    let first = append_body("mina", "first", "slack-user", "C1", "first");
    acme.post("/v1/tenants/acme/turns", &first).await.ok();
    // Nobody else is to empty it.
    let World { service: other, .. } = &world;
    other.signal(Signal::STOP);
    let queue = async |key: &str| {
        let body = append_body("mina", key, "slack-user", "C1", key);
        let queued = acme.post("/v1/tenants/acme/outbox", &body).await;
        assert_eq!(queued.status, 202, "{queued:?}");
    };
    queue("by hand").await;
    let job = throughline(&["job", "outbox", "--json"], &[("CCM_DATABASE_URL", url)]).succeeded();
    let told: Value = serde_json::from_str(&job.stdout).expect("JSON");
    let ended = (&told["job"], &told["outcome"]);
    assert_eq!(ended, (&json!("outbox"), &json!("done")));
    assert_eq!(told["queue"]["stored"], 1, "{told}");
    assert_eq!(texts_of(&acme, "mina").await.len(), 2);

    queue("on request").await;
    let runs = "ccm_job_runs_total{job_name=\"outbox\",outcome=\"done\"}";
    assert_eq!(metric(&acme, runs).await, "0", "nothing runs by itself");
    let run = service.client(world.operator.key());
    let ran = run.post("/admin/jobs/outbox/run", &json!({})).await.ok();
    assert_eq!(ran["queue"]["stored"], 1, "{ran}");
    assert_eq!(metric(&acme, runs).await, "1");
    assert_eq!(texts_of(&acme, "mina").await.len(), 3);
}
