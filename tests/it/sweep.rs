//! Sweeping in real processes: two replicas together, and a stop in the middle.

use std::time::Duration;

use http::Method;
use rustix::process::Signal;
use serde_json::Value;
use throughline_scratch_postgres::Database;
use throughline_tests::{Client, Service, migrated_database, operator_key};

/// Tenants `t0`, `t1`, …, ten users each and so many turns that have ended.
fn fill(database: &Database, tenants: u32, turns: u32) {
    let last = tenants - 1;
    let filled = database.psql(&format!(
        "insert into tenants select 't' || t, 'active', '{{\"ttl_days\": 1}}', 1, 0, now()
         from generate_series(0, {last}) t;
         insert into tenant_streams select 't' || t, {turns} from generate_series(0, {last}) t;
         insert into users select 't' || t, lpad(to_hex(u + 1), 32, '0')::uuid, 'active', null, 1,
             {turns} / 10, {turns} / 10 * 5, 1, now(), now()
         from generate_series(0, {last}) t, generate_series(0, 9) u;
         insert into cross_channel_messages (tenant_id, id, seq, user_id, origin_user_id,
             client_message_id, request_digest, channel_kind, channel_scope, user_message,
             assistant_answer, user_message_bytes, assistant_bytes, aux_bytes, metadata,
             redaction_state, content_form, created_at, ingested_at, expires_at)
         select 't' || t, lpad(to_hex(n + 1), 32, '0')::uuid, n,
             lpad(to_hex(n % 10 + 1), 32, '0')::uuid, lpad(to_hex(n % 10 + 1), 32, '0')::uuid,
             'k' || n, sha256('x'), 'slack-user', 'C', 'hello', '', 5, 0, 0, '{{}}', 'clean', 'raw',
             now() - interval '2 days', now() - interval '2 days', now() - interval '1 day'
         from generate_series(0, {last}) t, generate_series(0, {turns} - 1) n;"
    ));
    filled.expect("the rows go in");
}

fn count(database: &Database, sql: &str) -> u64 {
    let answer = database.psql(sql).expect("the query works");
    answer.trim().parse().expect("a number")
}

fn left(database: &Database) -> u64 {
    count(database, "select count(*) from cross_channel_messages;")
}

/// Users whose counters differ from COUNT and SUM.
fn wrong(database: &Database) -> u64 {
    count(
        database,
        "select count(*) from users u
         left join (select tenant_id, user_id, count(*) as turns,
                 sum(user_message_bytes + assistant_bytes + aux_bytes) as bytes
             from cross_channel_messages group by 1, 2) m
         on m.tenant_id = u.tenant_id and m.user_id = u.user_id
         where u.turn_count <> coalesce(m.turns, 0) or u.byte_count <> coalesce(m.bytes, 0);",
    )
}

async fn start(database: &Database, further: &[(&str, &str)]) -> Service {
    let mut environment = vec![("CCM_DATABASE_URL", database.url()), ("CCM_GC_CHUNK", "20")];
    environment.extend(further);
    let mut service = Service::start(&[], &environment);
    service.ready().await;
    service
}

async fn sweep(client: Client) -> Value {
    let answer = client.call(Method::POST, "/admin/jobs/gc/run", None).await;
    answer.expect("an answer").ok()
}

fn rows(answer: &Value) -> u64 {
    let done = answer["done"].as_array().expect("a list");
    let ttl = done.iter().filter(|done| done["pass"] == "ttl");
    ttl.map(|done| done["rows"].as_u64().expect("a number"))
        .sum()
}

// failures.md 16, D-04
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_replicas_sweep_together_and_delete_each_turn_once() {
    let database = migrated_database();
    let key = operator_key(database.url());
    fill(&database, 6, 600);
    let (one, other) = (start(&database, &[]).await, start(&database, &[]).await);
    let mut sweeps = tokio::task::JoinSet::new();
    for service in [&one, &other] {
        sweeps.spawn(sweep(service.client(&key)));
    }
    let answers = sweeps.join_all().await;
    let swept: u64 = answers.iter().map(rows).sum();
    assert_eq!(swept, 3_600, "{answers:?}");
    assert_eq!((left(&database), wrong(&database)), (0, 0));
    let deadlocks = "select deadlocks from pg_stat_database where datname = current_database();";
    assert_eq!(count(&database, deadlocks), 0);
    for service in [&one, &other] {
        assert!(!service.log().contains("\"ERROR\""), "{}", service.log());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sigterm_during_a_sweep_ends_it_between_two_transactions() {
    let database = migrated_database();
    let turns = 40_000;
    fill(&database, 1, turns);
    let mut service = start(&database, &[("CCM_GC_INTERVAL", "1s")]).await;
    while left(&database) == u64::from(turns) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    service.signal(Signal::TERM);
    let status = service.ended(Duration::from_secs(15)).await;
    assert!(status.success(), "{status}\n{}", service.log());
    let left = left(&database);
    assert!(left > 0, "the sweep was over before the signal came");
    assert_eq!(wrong(&database), 0);
    let stones = count(&database, "select count(*) from idempotency_tombstones;");
    assert_eq!(
        stones + left,
        u64::from(turns),
        "a deleted turn has its tombstone"
    );
    let held = count(
        &database,
        "select count(*) from job_leases where until > now();",
    );
    assert_eq!(held, 0, "the claim was given back");
}
