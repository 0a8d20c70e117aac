//! Killing the server at any point of a scan leaves no row readable unscanned (issue C).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http::Method;
use rustix::process::Signal;
use serde_json::{Value, json};
use throughline_scratch_postgres::Database;
use throughline_tests::{
    CLIENT_SCOPES, Client, Service, append_body, migrated_database, operator_key, tenant_client,
};
use tokio::sync::Notify;
use tokio_util::task::TaskTracker;

/// The server dies after so many answered appends of a round.
const KILLS: [usize; 8] = [1, 3, 10, 25, 40, 60, 90, 150];

const MINA: &str = "mina";

/// What is sent, every text with an address in it.
fn told(round: usize, n: usize) -> Value {
    let text = format!("write jo{n}@example.com today");
    let mut body = append_body(MINA, &format!("{round}:{n}"), "slack-user", "C1", &text);
    body["metadata"] = json!({ "to": format!("jo{n}@example.com") });
    body
}

/// Appends until the server goes; tells when `after` appends were answered.
async fn append(client: Client, round: usize, after: usize, reached: Arc<Notify>) -> usize {
    let answered = Arc::new(AtomicUsize::new(0));
    let tasks = TaskTracker::new();
    let lanes = (0..4).map(|lane| {
        let (client, answered, reached) = (client.clone(), answered.clone(), reached.clone());
        tasks.spawn(async move {
            for n in (lane..).step_by(4) {
                let path = "/v1/tenants/acme/turns";
                let answer = client.call(Method::POST, path, Some(&told(round, n))).await;
                if !answer.is_ok_and(|answer| answer.status.is_success()) {
                    return;
                }
                if answered.fetch_add(1, Ordering::SeqCst) + 1 >= after {
                    reached.notify_one();
                }
            }
        })
    });
    for lane in lanes.collect::<Vec<_>>() {
        lane.await.expect("a lane ends by itself");
    }
    answered.load(Ordering::SeqCst)
}

/// Sweeps without a pause until the server goes.
async fn sweep(operator: Client) {
    let path = "/admin/jobs/redaction/run";
    while operator.call(Method::POST, path, None).await.is_ok() {}
}

/// No turn is readable without a result that masks its address.
fn assert_nothing_readable_unscanned(database: &Database) {
    let bad = "select count(*) from cross_channel_messages \
               where redaction_state <> 'pending' and (redaction_state <> 'redacted' \
               or detector_version is null or redaction_metadata is null \
               or redaction_metadata::text not like '%\"EMAIL\"%\"EMAIL\"%');";
    assert_eq!(database.psql(bad).expect("psql runs").trim(), "0");
}

fn count(database: &Database, state: &str) -> usize {
    let sql =
        format!("select count(*) from cross_channel_messages where redaction_state = '{state}';");
    let count = database.psql(&sql).expect("psql runs");
    count.trim().parse().expect("a number")
}

async fn assert_reads_are_masked(client: &Client) {
    let query = "channel_kind=slack-user&channel_scope=C1&limit=100";
    let history = client
        .get(&format!("/v1/tenants/acme/history?{query}"))
        .await
        .ok();
    for turn in history["turns"].as_array().expect("turns") {
        assert_eq!(turn["user_message"], "write [EMAIL] today");
        assert_eq!(turn["metadata"], json!({ "to": "[EMAIL]" }));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killing_the_server_leaves_no_row_readable_unscanned() {
    let database = migrated_database();
    let key = operator_key(database.url());
    let start = || {
        let arguments = ["--redaction-interval", "1s", "--rate-limit", "off"];
        Service::start(&arguments, &[("CCM_DATABASE_URL", database.url())])
    };
    let mut service = start();
    let operator = service.ready().await.client(&key);
    let acme = tenant_client(&operator, "acme", &CLIENT_SCOPES).await;
    let config = json!({ "config": { "redaction_mode": "deferred" } });
    let path = "/admin/tenants/acme";
    let changed = operator.call(Method::PATCH, path, Some(&config)).await;
    changed.expect("the service answers").ok();

    let tasks = TaskTracker::new();
    let mut answered = 0;
    for (round, after) in KILLS.into_iter().enumerate() {
        let operator = service.client(&key);
        let client = service.client(acme.key());
        let reached = Arc::new(Notify::new());
        let appending = tasks.spawn(append(client, round, after, reached.clone()));
        let sweeping = tasks.spawn(sweep(operator));
        reached.notified().await;
        service.signal(Signal::KILL);
        service.ended(Duration::from_secs(10)).await;
        answered += appending.await.expect("appends end");
        sweeping.await.expect("sweeps end");
        assert_nothing_readable_unscanned(&database);
        service = start();
        assert_reads_are_masked(&service.ready().await.client(acme.key())).await;
        assert_nothing_readable_unscanned(&database);
    }

    let operator = service.client(&key);
    while count(&database, "pending") > 0 {
        // The schedule may be at it in the same moment: then this run is refused, and the next is not.
        operator
            .post("/admin/jobs/redaction/run", &Value::Null)
            .await;
    }
    let stored = count(&database, "redacted");
    assert!(
        stored >= answered,
        "{stored} of {answered} answered turns are there"
    );
    assert_nothing_readable_unscanned(&database);
    assert_reads_are_masked(&service.client(acme.key())).await;
    println!(
        "{} kills, {answered} answered appends, {stored} turns stored",
        KILLS.len()
    );
}
