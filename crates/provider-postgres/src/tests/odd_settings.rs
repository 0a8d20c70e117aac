//! A database with odd settings, and a pooler in front of it, change nothing.

use std::time::Duration;

use throughline_conversation_memory::contract::{Subject as _, turn};
use throughline_conversation_memory::{ConversationMemory as _, RecentPage, RecentQuery, Usage};
use throughline_scratch_postgres::PgBouncer;

use super::scratch::{Scratch, migrated, prepared};
use crate::{PostgresConfig, StatementMode};

/// 600 days over several changes of the clocks, read at the very edge of the retention.
async fn story(scratch: &Scratch) -> (Vec<(u64, String)>, Vec<String>, Usage) {
    let day = Duration::from_hours(24);
    let acme =
        throughline_conversation_memory::contract::Subject::tenant(scratch, "acme", 200).await;
    let mina = scratch.user(&acme).await;
    let clock = &scratch.clock;
    for number in 0..60 {
        let at = throughline_domain::Clock::now(&**clock).minus(day * (number % 3));
        let turn = turn(mina, &format!("k{number}"))
            .at(at)
            .saying(&format!("turn {number}"));
        scratch.store.append(&acme, turn.build()).await.unwrap();
        clock.advance(day * 10);
    }
    // The edge falls between two turns by a microsecond.
    clock.advance(Duration::from_micros(1));
    let RecentPage { turns, .. } = scratch
        .store
        .recent(&acme, mina, &RecentQuery::default())
        .await
        .unwrap();
    let recent = turns
        .into_iter()
        .map(|t| (t.seq, t.created_at.to_string()))
        .collect();
    let scope = turn(mina, "x").build().scope().clone();
    let history = scratch
        .store
        .history(
            &acme,
            &scope,
            throughline_conversation_memory::Limit::default(),
        )
        .await;
    let history = history
        .unwrap()
        .into_iter()
        .map(|turn| turn.user_message)
        .collect();
    (
        recent,
        history,
        scratch.store.usage(&acme, mina).await.unwrap(),
    )
}

/// failures.md 27
#[tokio::test]
async fn the_databases_zone_and_formats_change_nothing() {
    let plain = story(&prepared().await).await;
    assert!(
        plain.0.len() > 5,
        "the retention cuts in the middle: {plain:?}"
    );
    assert!(plain.0.len() < 20 + 1);
    for (zone, dates) in [
        ("America/St_Johns", "German, DMY"),
        ("Australia/Lord_Howe", "SQL, MDY"),
    ] {
        let database = migrated().await;
        let name = database.name();
        let alter = format!(
            "alter database \"{name}\" set timezone = '{zone}'; \
             alter database \"{name}\" set datestyle = '{dates}'; \
             alter database \"{name}\" set intervalstyle = 'iso_8601'; \
             alter database \"{name}\" set bytea_output = 'escape'; \
             alter database \"{name}\" set default_transaction_isolation = 'serializable';"
        );
        database.psql(&alter).unwrap();
        assert_eq!(story(&Scratch::on(database, None)).await, plain, "{zone}");
    }
}

/// failures.md 28: every transaction on whichever session is free.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_transaction_mode_pooler_serves_unnamed_statements() {
    let plain = story(&prepared().await).await;
    let database = migrated().await;
    let pooler = match PgBouncer::start(database.url(), 2) {
        Ok(pooler) => pooler,
        Err(throughline_scratch_postgres::Error::PoolerMissing) => {
            println!("skipped: there is no pgbouncer on this machine");
            return;
        }
        Err(error) => panic!("{error}"),
    };
    let mut config = PostgresConfig::new(pooler.url(database.name()).into());
    config.statement_mode = StatementMode::Unnamed;
    let scratch = Scratch::on(database, Some(config));
    assert_eq!(story(&scratch).await, plain);
    // More callers than the pooler has sessions, all on one key and user.
    let acme = throughline_domain::TenantId::parse("acme").unwrap();
    let mina = scratch.user(&acme).await;
    let calls = (0..50).map(|_| scratch.store.append(&acme, turn(mina, "one key").build()));
    let answers = futures_util::future::join_all(calls).await;
    let mut ids: Vec<_> = answers
        .into_iter()
        .map(|answer| answer.unwrap().turn_id)
        .collect();
    ids.dedup();
    assert_eq!(ids.len(), 1);
}
