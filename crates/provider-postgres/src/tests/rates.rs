//! Figures to look at, not promises: `cargo test --release -- --ignored --nocapture rates`.

use std::sync::Arc;
use std::time::Instant;

use throughline_conversation_memory::contract::turn;
use throughline_conversation_memory::{ConversationMemory as _, RecentQuery};
use throughline_domain::{SystemClock, SystemIds, TenantId, UserId};
use throughline_platform_identity::{ChannelUser, PlatformIdentity as _, PlatformKind};
use throughline_scratch_postgres::{Server, Settings};
use throughline_tenancy::{Tenancy as _, TenantConfig};
use tokio_util::task::TaskTracker;

use crate::{PostgresConfig, PostgresStore, migrate};

async fn person(store: &PostgresStore, number: usize) -> (TenantId, UserId) {
    let tenant = TenantId::parse(&format!("t{number}")).unwrap();
    store
        .create_tenant(&tenant, TenantConfig::default())
        .await
        .unwrap();
    let who = ChannelUser::new(PlatformKind::Custom, "somebody").unwrap();
    let user = store.resolve(&tenant, &who).await.unwrap().user_id;
    (tenant, user)
}

/// Turns a second of that many callers, each with a tenant of its own or all with one, and batches
/// of that many turns.
async fn rate(
    store: &Arc<PostgresStore>,
    people: &[(TenantId, UserId)],
    callers: usize,
    batch: usize,
    label: &str,
) {
    let rounds = 4_000 / callers / batch.min(16);
    let begun = Instant::now();
    let tasks = TaskTracker::new();
    for caller in 0..callers {
        let (store, label) = (store.clone(), label.to_owned());
        let (tenant, user) = people[caller % people.len()].clone();
        tasks.spawn(async move {
            for round in 0..rounds {
                let turns = (0..batch).map(|number| {
                    turn(user, &format!("{label} {caller} {round} {number}"))
                        .saying(&"x".repeat(400))
                        .answered(&"y".repeat(1_200))
                        .build()
                });
                let answers = store.append_batch(&tenant, turns.collect()).await;
                assert!(answers.iter().all(Result::is_ok));
            }
        });
    }
    tasks.close();
    tasks.wait().await;
    let turns = u32::try_from(rounds * callers * batch).unwrap();
    let seconds = begun.elapsed().as_secs_f64();
    println!("{label}: {:.0} turns/s", f64::from(turns) / seconds);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a measurement"]
async fn turns_a_second_on_a_durable_server() {
    let server = Server::start(Settings::durable()).unwrap();
    let config = PostgresConfig::new(server.url("postgres").into());
    migrate(&config).await.unwrap();
    let registry = prometheus::Registry::new();
    let store = PostgresStore::connect(
        config,
        Arc::new(SystemClock),
        Arc::new(SystemIds),
        &registry,
    )
    .unwrap();
    let mut people = Vec::new();
    for number in 0..64 {
        people.push(person(&store, number).await);
    }
    rate(&store, &people[..1], 1, 1, "1 caller").await;
    rate(&store, &people, 8, 1, "8 callers, a tenant each").await;
    rate(&store, &people, 64, 1, "64 callers, a tenant each").await;
    rate(&store, &people[..1], 64, 1, "64 callers, one user").await;
    rate(&store, &people[..1], 1, 256, "1 caller, batches of 256").await;
    rate(&store, &people, 2, 256, "2 callers, batches of 256").await;
    let begun = Instant::now();
    for _ in 0..1_000 {
        let (tenant, user) = &people[1];
        let page = store
            .recent(tenant, *user, &RecentQuery::default())
            .await
            .unwrap();
        assert_eq!(page.turns.len(), 20);
    }
    println!(
        "recent of 20, one caller: {:.0}/s",
        1_000.0 / begun.elapsed().as_secs_f64()
    );
}
