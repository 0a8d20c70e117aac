//! The plans of the hot statements at 100,000 rows, asked of the very statements.

use throughline_scratch_postgres::{Database, Shared};
use tokio_postgres::Client;
use tokio_util::task::TaskTracker;

use crate::{PostgresConfig, migrate, statement};

/// 100,000 turns of ten tenants, a hundred scopes and writing users each; one turn in fifty is pending.
const FILL: &str = "
insert into tenants select 't' || n, 'active', '{\"ttl_days\": 90}', 1, 0, '2023-11-01'
from generate_series(0, 9) n;
insert into tenant_streams select 't' || n, 10000 from generate_series(0, 9) n;
insert into users
select 't' || n % 10, lpad(to_hex(n / 10), 32, '0')::uuid, 'active', null, 1, 100, 1000, 1, '2023-11-01', '2023-11-01'
from generate_series(0, 99999) n;
insert into cross_channel_messages
select 't' || n % 10, lpad(to_hex(n), 32, '0')::uuid, n / 10,
    lpad(to_hex(n / 10 % 100), 32, '0')::uuid, lpad(to_hex(n / 10 % 100), 32, '0')::uuid,
    'k' || n, decode(repeat('00', 32), 'hex'), 'slack-user', 'C' || n / 10 % 100, null,
    'hello', 'hello', 5, 5, 0, null, '{}',
    case when n % 50 = 0 then 'pending' else 'clean' end, null, 1, 'raw',
    timestamptz '2023-11-02 00:00:00Z' + n * interval '1 second',
    timestamptz '2023-11-02 00:00:00Z' + n * interval '1 second', '2024-02-01'
from generate_series(0, 99999) n;
insert into idempotency_tombstones
select 't' || n % 10, sha256(convert_to('gone ' || n, 'UTF8')), 'erased', '2024-02-01'
from generate_series(0, 9999) n;
analyze;
";

async fn filled() -> (Database, Client) {
    database(FILL).await
}

async fn database(fill: &str) -> (Database, Client) {
    let key = format!(
        "plans {fill} {:?}",
        crate::migrate::MIGRATOR.iter().collect::<Vec<_>>()
    );
    let shared = Shared::attach().unwrap();
    let prepare = async |url: &str| {
        migrate(&PostgresConfig::new(url.into())).await.unwrap();
        connect(url).await.batch_execute(fill).await
    };
    let database = shared
        .database_from_template_async(&key, prepare)
        .await
        .unwrap();
    let client = connect(database.url()).await;
    (database, client)
}

async fn connect(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls)
        .await
        .unwrap();
    TaskTracker::new().spawn(connection);
    client
}

/// The plan that a prepared statement settles on.
async fn plan(client: &Client, name: &str, arguments: &str) -> String {
    let statement = statement::all()
        .find(|statement| statement.name == name)
        .unwrap();
    let types: Vec<String> = statement.params.iter().map(ToString::to_string).collect();
    let types: Vec<String> = types
        .iter()
        .map(|name| {
            name.strip_prefix('_')
                .map_or(name.clone(), |item| format!("{item}[]"))
        })
        .collect();
    client
        .batch_execute("set plan_cache_mode = force_generic_plan")
        .await
        .unwrap();
    let prepare = format!("prepare p ({}) as {}", types.join(", "), statement.sql);
    client.batch_execute(&prepare).await.unwrap();
    let explain = format!("explain (costs off) execute p ({arguments})");
    let lines = client.simple_query(&explain).await.unwrap();
    let lines = lines.iter().filter_map(|message| match message {
        tokio_postgres::SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
        _ => None,
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Each look-up reads by an index and stops there: no table of turns is read through or sorted whole.
fn assert_indexed(plan: &str, indexes: &[&str]) {
    assert!(
        !plan.contains("Seq Scan on cross_channel_messages"),
        "{plan}"
    );
    for index in indexes {
        assert!(plan.contains(index), "{index} is not used:\n{plan}");
    }
}

const USER: &str = "'00000000-0000-0000-0000-000000000007'";

#[tokio::test]
async fn recent_reads_by_the_index_of_a_users_turns() {
    let (_database, client) = filled().await;
    let arguments = format!(
        "'t1', {USER}, '2023-11-04', '0001-01-01', '9999-12-30', '9999-12-30', 9223372036854775807, null, null, 20"
    );
    let plan = plan(&client, "recent", &arguments).await;
    assert_indexed(
        &plan,
        &[
            "cross_channel_messages_user",
            "cross_channel_messages_pending",
        ],
    );
    // The order comes out of the index: what is sorted is the page, above its limit.
    let page = plan.split("cross_channel_messages_user").next().unwrap();
    assert!(page.matches("Sort").count() <= 2, "{plan}");
}

#[tokio::test]
async fn history_reads_by_the_index_of_a_scopes_turns() {
    let (_database, client) = filled().await;
    let plan = plan(
        &client,
        "history",
        "'t1', 'slack-user', 'C7', '2023-11-04', 20",
    )
    .await;
    assert_indexed(&plan, &["cross_channel_messages_scope"]);
}

#[tokio::test]
async fn append_finds_its_keys_by_their_index() {
    let (_database, client) = filled().await;
    let keys = "array['t1', 't1', 't2'], array['k1', 'new', 'k2'], timestamptz '2023-11-04'";
    let plan = plan(&client, "append_find", keys).await;
    assert_indexed(
        &plan,
        &["cross_channel_messages_key", "idempotency_tombstones_pkey"],
    );
}

#[tokio::test]
async fn append_locks_users_in_sorted_order_by_their_key() {
    let (_database, client) = filled().await;
    let plan = plan(
        &client,
        "append_lock",
        &format!("array['t1'], array[{USER}::uuid]"),
    )
    .await;
    assert!(plan.contains("users_pkey"), "{plan}");
    // Locked after it was sorted.
    let (lock, sort) = (plan.find("LockRows").unwrap(), plan.find("Sort").unwrap());
    assert!(lock < sort, "{plan}");
}

#[tokio::test]
async fn what_waits_for_a_scan_is_found_by_its_indexes() {
    let (_database, client) = filled().await;
    let due = plan(&client, "redaction_due", "'t1', 2, 64, array[]::uuid[]").await;
    let indexes = [
        "cross_channel_messages_unscanned",
        "cross_channel_messages_detector",
    ];
    assert_indexed(&due, &indexes);
    client.batch_execute("deallocate p").await.unwrap();
    let tenants = plan(&client, "redaction_tenants_due", "'', 1, 200").await;
    assert_indexed(&tenants, &indexes);
    client.batch_execute("deallocate p").await.unwrap();
    let backlog = plan(&client, "redaction_backlog", "1000000").await;
    assert_indexed(&backlog, &["cross_channel_messages_unscanned"]);
    client.batch_execute("deallocate p").await.unwrap();
    let settle = format!(
        "'t1', array[{USER}::uuid], array['pending'], array[null::integer], array[0], \
         array['clean'], array[1], array[null::text], array[0]"
    );
    let settle = plan(&client, "redaction_settle", &settle).await;
    assert_indexed(&settle, &["cross_channel_messages_pkey"]);
}

/// As the plan is made in a database that has just been created: by the keys, whatever the planner
/// does not know yet.
#[tokio::test]
async fn append_at_once_reads_by_keys_in_an_empty_database_too() {
    let (_database, client) = database("").await;
    // As every session of ours.
    client
        .batch_execute("set enable_seqscan = off")
        .await
        .unwrap();
    let texts = "array['t1']";
    let uuids = format!("array[{USER}::uuid]");
    let arguments = format!(
        "{texts}, {uuids}, {uuids}, {texts}, array['\\x00'::bytea], {texts}, {texts}, {texts}, {texts}, {texts}, \
         array[1], array[1], array[1], {texts}, {texts}, {texts}, {texts}, array[1], {texts}, \
         array[timestamptz '2023-11-04'], timestamptz '2023-11-04', array[0], array[1], array[2], 10000, 50000000"
    );
    let plan = plan(&client, "append_at_once", &arguments).await;
    let keys = [
        "tenants_pkey",
        "tenant_streams_pkey",
        "users_pkey",
        "idempotency_tombstones_pkey",
        "Conflict Arbiter Indexes: cross_channel_messages_key",
    ];
    assert_indexed(&plan, &keys);
    let conditions = [
        "(tenant_id = n.tenant_id) AND (user_id = n.user_id)",
        "(tenant_id = n.tenant_id) AND (key_digest = sha256(",
    ];
    for condition in conditions {
        assert!(plan.contains(condition), "{plan}");
    }
    assert!(!plan.contains("Seq Scan"), "{plan}");
}

/// Asked before each remembered page is served: two look-ups, however many are asked for at once.
#[tokio::test]
async fn versions_are_read_by_keys_in_an_empty_database_too() {
    let (_database, client) = database("").await;
    client
        .batch_execute("set enable_seqscan = off")
        .await
        .unwrap();
    let many = format!("array['t1', 't2'], array[{USER}::uuid, {USER}::uuid]");
    let plan = plan(&client, "read_versions", &many).await;
    assert_indexed(&plan, &["tenants_pkey", "users_pkey"]);
    for look_up in [
        "(tenant_id = k.tenant_id)",
        "(tenant_id = k.tenant_id) AND (user_id = k.user_id)",
        "(tenant_id = k.tenant_id) AND (user_id = p.merged_into)",
    ] {
        assert!(plan.contains(look_up), "{plan}");
    }
    assert!(!plan.contains("Seq Scan"), "{plan}");
}

#[tokio::test]
async fn the_sweep_finds_what_has_ended_by_its_index() {
    let (_database, client) = filled().await;
    let arguments = "'t1', '2023-11-04', 1000, '2024-02-01'";
    let plan = plan(&client, "gc_ended", arguments).await;
    assert_indexed(&plan, &["cross_channel_messages_end"]);
}

/// Each turn pays for every index (docs/adr/0046): one that no plan here reads by has to go.
#[tokio::test]
async fn every_index_of_the_turns_has_a_plan_that_reads_by_it() {
    let (_database, client) = filled().await;
    let sql = "select i.indexrelid::regclass::text from pg_index i \
               where i.indrelid = 'cross_channel_messages'::regclass";
    let indexes = client.query(sql, &[]).await.unwrap();
    assert!(indexes.len() >= 7);
    for index in indexes {
        let quoted = format!("\"{}\"", index.get::<_, String>(0));
        assert!(include_str!("plans.rs").contains(&quoted), "{quoted}");
    }
}
