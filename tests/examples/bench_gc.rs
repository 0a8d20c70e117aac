//! Measures the sweep on a durable scratch server: how long a million turns take of which half have ended,
//! and what appends cost beside it. Prints one table.
//!
//! `cargo run --release -p throughline-tests --example bench_gc [turns] [appends a second]`

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use prometheus::Registry;
use throughline_conversation_memory::ConversationMemory as _;
use throughline_conversation_memory::contract::turn;
use throughline_domain::{Clock, SystemClock, SystemIds, TenantId, UserId};
use throughline_jobs::{Gc, GcMetrics, GcParts, GcSettings, Job as _, JobContext, Visiting};
use throughline_provider_postgres::{PostgresConfig, PostgresStore, migrate};
use throughline_scratch_postgres::{Server, Settings};
use throughline_tenancy::{Tenancy as _, TenantConfig};
use tokio_util::task::TaskTracker;

type Fault = Box<dyn Error + Send + Sync>;

const USERS: u64 = 1_000;
const DATABASE: &str = "bench";
/// How long appends are measured with and without a sweep beside them.
const WATCHED: Duration = Duration::from_secs(15);

#[tokio::main]
async fn main() -> Result<(), Fault> {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<u64>());
    let turns = arguments.next().transpose()?.unwrap_or(1_000_000);
    let rate = arguments.next().transpose()?.unwrap_or(1_500);
    let settings = Settings::durable()
        .with("shared_buffers", "512MB")
        .with("max_wal_size", "8GB");
    let server = Server::start(settings)?;
    server.create_database(DATABASE, None)?;
    let config = PostgresConfig::new(server.url(DATABASE).into());
    migrate(&config).await?;
    let registry = Registry::new();
    let store = PostgresStore::connect(
        config,
        Arc::new(SystemClock),
        Arc::new(SystemIds),
        &registry,
    )?;
    let acme = TenantId::parse("acme")?;
    let rules = TenantConfig {
        turn_cap: 10_000_000,
        ..TenantConfig::default()
    };
    store.create_tenant(&acme, rules).await?;
    fill(&server, turns, 0)?;
    println!("turns {turns}, half ended; users {USERS}; fsync on");

    let gc = sweep(&store, &registry)?;
    let begun = Instant::now();
    let report = gc.run(&endless()).await;
    let took = begun.elapsed();
    println!(
        "sweep alone           {:>8.2} s   {} rows, {:?}",
        took.as_secs_f64(),
        report.rows("ttl"),
        report.outcome.as_str()
    );
    check(&server)?;

    let calm = appends(&store, &acme, rate, WATCHED).await?;
    println!("appends, no sweep     {calm}");
    fill(&server, turns, turns)?;
    let context = endless();
    let tracker = TaskTracker::new();
    let (running, told) = (context.clone(), context.clone());
    let sweeping = tracker.spawn(async move {
        let begun = Instant::now();
        let report = gc.run(&running).await;
        (report.rows("ttl"), begun.elapsed())
    });
    let beside = appends(&store, &acme, rate, WATCHED).await?;
    let ended = sweeping.is_finished();
    told.stop();
    let (rows, time) = sweeping.await?;
    println!("appends beside sweep  {beside}");
    println!(
        "the sweep beside them deleted {rows} rows in {:.1} s{}",
        time.as_secs_f64(),
        if ended {
            ", all there were"
        } else {
            " and was stopped"
        }
    );
    println!(
        "p99 with / without    {:>8.2}",
        beside.p99.as_secs_f64() / calm.p99.as_secs_f64()
    );
    check(&server)?;
    store.close().await;
    Ok(())
}

fn endless() -> JobContext {
    JobContext::until(tokio::time::Instant::now() + Duration::from_hours(1))
}

fn sweep(store: &Arc<PostgresStore>, registry: &Registry) -> Result<Gc, Fault> {
    let parts = GcParts {
        tenancy: store.clone(),
        retention: store.clone(),
        leases: store.clone(),
        clock: Arc::new(SystemClock),
        ids: Arc::new(SystemIds),
        metrics: GcMetrics::register(registry)?,
        settings: GcSettings {
            slice: Duration::from_mins(10),
            ..GcSettings::default()
        },
    };
    Ok(Gc::new(parts, Visiting::AtServiceTime))
}

/// Users and turns of 400 bytes and 1,200 in the answer; every second one has ended.
fn fill(server: &Server, turns: u64, first: u64) -> Result<(), Fault> {
    let now = SystemClock.now();
    let last = first + turns - 1;
    server.psql(DATABASE, &format!("
        insert into users
        select 'acme', lpad(to_hex(n), 32, '0')::uuid, 'active', null, 1, 0, 0, 0, '{now}', '{now}'
        from generate_series(1, {USERS}) n on conflict do nothing;
        insert into cross_channel_messages (tenant_id, id, seq, user_id, origin_user_id,
            client_message_id, request_digest, channel_kind, channel_scope, user_message,
            assistant_answer, user_message_bytes, assistant_bytes, aux_bytes, metadata,
            redaction_state, detector_version, content_form, created_at, ingested_at, expires_at)
        select 'acme', lpad(to_hex(n + 1), 32, '0')::uuid, n, u, u, 'fill ' || n, sha256(n::text::bytea),
            'slack-user', 'C' || n % 100, repeat('q', 400), repeat('a', 1200), 400, 1200, 0, '{{}}',
            'clean', 1, 'raw', timestamptz '{now}' - interval '1 day', '{now}',
            timestamptz '{now}' + (n % 2) * interval '30 days' - interval '1 minute'
        from (select n, lpad(to_hex(1 + n / 2 % {USERS}), 32, '0')::uuid as u
              from generate_series({first}, {last}) n) f;
        update users u set turn_count = m.turns, byte_count = m.bytes
        from (select user_id, count(*) as turns,
                sum(user_message_bytes::bigint + assistant_bytes + aux_bytes) as bytes
              from cross_channel_messages group by user_id) m
        where u.user_id = m.user_id;
        vacuum (analyze) cross_channel_messages, users; checkpoint;"))?;
    Ok(())
}

/// Nothing that has ended is left where a sweep came to its end, and the counters are exact.
fn check(server: &Server) -> Result<(), Fault> {
    let wrong = server.psql(
        DATABASE,
        "
        select count(*) from users u
        left join (select user_id, count(*) as turns,
                sum(user_message_bytes::bigint + assistant_bytes + aux_bytes) as bytes
            from cross_channel_messages group by user_id) m on m.user_id = u.user_id
        where u.turn_count <> coalesce(m.turns, 0) or u.byte_count <> coalesce(m.bytes, 0);",
    )?;
    let left = server.psql(
        DATABASE,
        "select count(*), count(*) filter (where expires_at < now()) from cross_channel_messages;",
    )?;
    println!(
        "turns left | ended    {} ; users with wrong counters {}",
        left.trim(),
        wrong.trim()
    );
    Ok(())
}

struct Latencies {
    done: usize,
    failed: usize,
    p50: Duration,
    p99: Duration,
    most: Duration,
}

impl std::fmt::Display for Latencies {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ms = |time: Duration| time.as_secs_f64() * 1_000.0;
        let (p50, p99, most) = (ms(self.p50), ms(self.p99), ms(self.most));
        write!(
            f,
            "{:>8} done, {} failed, p50 {p50:.2} ms, p99 {p99:.2} ms, most {most:.2} ms",
            self.done, self.failed
        )
    }
}

/// So many appends a second, each started when it is due whatever became of the others.
async fn appends(
    store: &Arc<PostgresStore>,
    tenant: &TenantId,
    rate: u64,
    time: Duration,
) -> Result<Latencies, Fault> {
    let tracker = TaskTracker::new();
    let begun = tokio::time::Instant::now();
    let stamp = SystemClock.now().as_micros();
    let total = rate * time.as_secs();
    let mut running = Vec::with_capacity(usize::try_from(total)?);
    for number in 0..total {
        let due = begun + Duration::from_nanos(1_000_000_000 / rate * number);
        tokio::time::sleep_until(due).await;
        let (store, tenant) = (store.clone(), tenant.clone());
        running.push(tracker.spawn(async move {
            let user = UserId::from_u128(u128::from(1 + number * 7 % USERS));
            let turn = turn(user, &format!("load {stamp} {number}"));
            let turn = turn
                .saying(&"q".repeat(400))
                .answered(&"a".repeat(1_200))
                .build();
            store.append(&tenant, turn).await.map(|_| due.elapsed())
        }));
    }
    let mut times = Vec::with_capacity(running.len());
    let mut failed = 0;
    for append in running {
        match append.await? {
            Ok(time) => times.push(time),
            Err(_) => failed += 1,
        }
    }
    times.sort_unstable();
    let at = |share: usize| times[(times.len() - 1) * share / 100];
    Ok(Latencies {
        done: times.len(),
        failed,
        p50: at(50),
        p99: at(99),
        most: at(100),
    })
}
