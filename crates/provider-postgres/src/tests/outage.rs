//! Connections that die, answers that are lost, a server that hangs.

use std::sync::Arc;
use std::time::{Duration, Instant};

use throughline_conversation_memory::contract::{Subject as _, turn};
use throughline_conversation_memory::{
    AppendError, AppendOutcome, ConversationMemory as _, MemoryError, RecentQuery,
};
use throughline_domain::{Clock as _, SystemClock, SystemIds};
use throughline_scratch_postgres::{Server, Settings};
use tokio_util::task::TaskTracker;

use super::fault_proxy::FaultProxy;
use super::scratch::{Scratch, migrated, prepared};
use crate::{PostgresConfig, PostgresStore, migrate};
use throughline_tenancy::TenantConfig;

/// failures.md 28: typed retryable errors, recovery, nothing lost or doubled.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_connections_lose_and_double_nothing() {
    let scratch = Arc::new(prepared().await);
    let acme = scratch.acme().await;
    let mina = scratch.user(&acme).await;
    let begun = Instant::now();
    let tasks = TaskTracker::new();
    let writers: Vec<_> = (0..6)
        .map(|writer| {
            let (scratch, acme) = (scratch.clone(), acme.clone());
            tasks.spawn(async move {
                let (mut number, mut failures) = (0, 0);
                while begun.elapsed() < Duration::from_secs(3) {
                    let key = format!("{writer} {number}");
                    match scratch.store.append(&acme, turn(mina, &key).build()).await {
                        Ok(_) => number += 1,
                        Err(
                            AppendError::Transport { .. }
                            | AppendError::Timeout { .. }
                            | AppendError::Committed { .. },
                        ) => failures += 1,
                        Err(error) => panic!("{error:?}"),
                    }
                }
                (number, failures)
            })
        })
        .collect();
    let kill = "select count(pg_terminate_backend(pid)) from pg_stat_activity \
                where datname = current_database() and pid <> pg_backend_pid();";
    while begun.elapsed() < Duration::from_millis(2_500) {
        scratch.database.psql(kill).unwrap();
    }
    let (mut stored, mut failed) = (0, 0);
    for writer in writers {
        let (numbers, failures) = writer.await.unwrap();
        stored += numbers;
        failed += failures;
    }
    println!("{stored} stored, {failed} failures");
    assert!(
        stored > 0 && failed > 0,
        "{stored} stored, {failed} failures"
    );
    let usage = scratch.store.usage(&acme, mina).await.unwrap();
    let rows =
        "select count(*) || ' ' || count(distinct client_message_id) from cross_channel_messages;";
    let rows = scratch.database.psql(rows).unwrap();
    assert_eq!(rows, format!("{0} {0}", usage.turn_count));
    assert!(usage.turn_count >= stored);
}

/// T-14: the commit happened and its answer was lost: the caller is told so, with the id.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_whose_answer_was_lost_is_found() {
    let database = migrated().await;
    let proxy = FaultProxy::before(database.url()).await;
    let config = PostgresConfig::new(proxy.url.clone().into());
    let scratch = Scratch::on(database, Some(config));
    let acme = scratch.acme().await;
    let mina = scratch.user(&acme).await;
    let first = scratch
        .store
        .append(&acme, turn(mina, "before").build())
        .await
        .unwrap();
    proxy.cut_at_the_next_commit();
    let turns = vec![
        turn(mina, "a").build(),
        turn(mina, "before").build(),
        turn(mina, "a").build(),
    ];
    let answers = scratch.store.append_batch(&acme, turns).await;
    let Err(AppendError::Committed { turn_id: found, .. }) = &answers[0] else {
        panic!("{answers:?}");
    };
    // The second of its key was looked at afterwards.
    let second = answers[2].as_ref().unwrap();
    assert_eq!(
        (second.outcome, second.turn_id),
        (AppendOutcome::Duplicate, *found)
    );
    let known = answers[1].as_ref().unwrap();
    assert_eq!(
        (known.outcome, known.turn_id),
        (AppendOutcome::Duplicate, first.turn_id)
    );
    let again = scratch
        .store
        .append(&acme, turn(mina, "a").build())
        .await
        .unwrap();
    assert_eq!(again.outcome, AppendOutcome::Duplicate);
    assert_eq!(*found, again.turn_id);
    assert_eq!(
        scratch.store.usage(&acme, mina).await.unwrap().turn_count,
        2
    );
}

/// T-14: the session ended at the commit and nothing is found: unknown, and a retry stores it once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_that_ended_with_its_session_is_unknown() {
    let scratch = prepared().await;
    let acme = scratch.acme().await;
    let mina = scratch.user(&acme).await;
    let ends_at_commit = "create function ends() returns trigger language plpgsql as \
        'begin perform pg_terminate_backend(pg_backend_pid()); return null; end'; \
        create constraint trigger ends after insert on cross_channel_messages \
        deferrable initially deferred for each row execute function ends();";
    scratch.database.psql(ends_at_commit).unwrap();
    let answer = scratch.store.append(&acme, turn(mina, "k").build()).await;
    assert!(
        matches!(answer, Err(AppendError::Timeout { .. })),
        "{answer:?}"
    );
    scratch
        .database
        .psql("drop trigger ends on cross_channel_messages;")
        .unwrap();
    let again = scratch
        .store
        .append(&acme, turn(mina, "k").build())
        .await
        .unwrap();
    assert_eq!(again.outcome, AppendOutcome::Stored);
}

/// A statement that the server gave up before the commit stored nothing, and says so.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_statement_that_takes_too_long_is_not_committed() {
    let scratch =
        Scratch::configured(|config| config.statement_timeout = Duration::from_millis(200)).await;
    let acme = scratch.acme().await;
    let mina = scratch.user(&acme).await;
    let (blocker, connection) =
        tokio_postgres::connect(scratch.database.url(), tokio_postgres::NoTls)
            .await
            .unwrap();
    TaskTracker::new().spawn(connection);
    blocker
        .batch_execute("begin; select from tenant_streams for update;")
        .await
        .unwrap();
    let begun = Instant::now();
    let answer = scratch.store.append(&acme, turn(mina, "k").build()).await;
    assert!(
        matches!(answer, Err(AppendError::Transport { .. })),
        "{answer:?}"
    );
    assert!(begun.elapsed() < Duration::from_secs(2));
    blocker.batch_execute("rollback").await.unwrap();
    let again = scratch
        .store
        .append(&acme, turn(mina, "k").build())
        .await
        .unwrap();
    assert_eq!(again.outcome, AppendOutcome::Stored);
}

/// A server that hangs is given up, also where no session setting reaches; then it goes on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hanging_server_is_given_up_and_come_back_to() {
    let server = Server::start(Settings::default()).unwrap();
    server.create_database("hanging", None).unwrap();
    let mut config = PostgresConfig::new(server.url("hanging").into());
    config.statement_timeout = Duration::from_millis(200);
    config.connect_timeout = Duration::from_millis(300);
    config.pool_wait = Duration::from_millis(300);
    migrate(&config).await.unwrap();
    let registry = prometheus::Registry::new();
    let store = PostgresStore::connect(
        config,
        Arc::new(SystemClock),
        Arc::new(SystemIds),
        &registry,
    )
    .unwrap();
    let acme = throughline_domain::TenantId::parse("acme").unwrap();
    throughline_tenancy::Tenancy::create_tenant(&*store, &acme, TenantConfig::default())
        .await
        .unwrap();
    let nobody =
        throughline_domain::UserId::from_u128(SystemClock.now().as_micros().unsigned_abs().into());
    server.pause().unwrap();
    let begun = Instant::now();
    let hanging = store.recent(&acme, nobody, &RecentQuery::default()).await;
    assert!(
        matches!(hanging, Err(MemoryError::Unavailable(_))),
        "{hanging:?}"
    );
    assert!(store.ping().await.is_err());
    let answer = store.append(&acme, turn(nobody, "k").build()).await;
    assert!(
        matches!(answer, Err(AppendError::Transport { .. })),
        "{answer:?}"
    );
    assert!(
        begun.elapsed() < Duration::from_secs(8),
        "{:?}",
        begun.elapsed()
    );
    server.resume().unwrap();
    store
        .recent(&acme, nobody, &RecentQuery::default())
        .await
        .unwrap();
    server.stop();
    // failures.md 34: an error, never an empty list.
    let down = store.recent(&acme, nobody, &RecentQuery::default()).await;
    assert!(matches!(down, Err(MemoryError::Unavailable(_))), "{down:?}");
    server.restart().unwrap();
    store
        .recent(&acme, nobody, &RecentQuery::default())
        .await
        .unwrap();
}
