//! Migrations: at once, again, altered, ahead.

use throughline_scratch_postgres::Shared;
use tokio_util::task::TaskTracker;

use super::scratch::{Scratch, migrated};
use crate::{MigrateError, PostgresConfig, SchemaError, SchemaStatus, migrate};

/// failures.md 29
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_at_once_on_an_empty_database_leave_one_schema() {
    let shared = Shared::attach().unwrap();
    for _ in 0..5 {
        let database = shared.empty_database().unwrap();
        let tasks = TaskTracker::new();
        let runs: Vec<_> = (0..5)
            .map(|_| {
                let config = PostgresConfig::new(database.url().into());
                tasks.spawn(async move { migrate(&config).await })
            })
            .collect();
        let mut applied = Vec::new();
        for run in runs {
            let report = run.await.unwrap().unwrap();
            assert_eq!(report.version, 4);
            applied.extend(report.applied);
        }
        assert_eq!(applied, [1, 2, 3, 4], "each is applied by one process");
        let scratch = Scratch::on(database, None);
        assert_eq!(
            scratch.store.schema_status().await.unwrap(),
            SchemaStatus::UpToDate
        );
    }
}

#[tokio::test]
async fn an_empty_database_has_no_schema_and_a_half_migrated_one_is_behind() {
    let database = Shared::attach().unwrap().empty_database().unwrap();
    let scratch = Scratch::on(database, None);
    assert_eq!(
        scratch.store.schema_status().await.unwrap(),
        SchemaStatus::Missing
    );
    let scratch = Scratch::on(migrated().await, None);
    scratch
        .database
        .psql("delete from _sqlx_migrations where version = 4;")
        .unwrap();
    let behind = SchemaStatus::Behind {
        applied: 3,
        known: 4,
    };
    assert_eq!(scratch.store.schema_status().await.unwrap(), behind);
}

/// An old binary on a newer schema refuses, with both versions in the line.
#[tokio::test]
async fn a_newer_schema_is_refused() {
    let scratch = Scratch::on(migrated().await, None);
    let newer = "insert into _sqlx_migrations \
                 select 9999, 'newer', now(), true, checksum, 0 from _sqlx_migrations where version = 1;";
    scratch.database.psql(newer).unwrap();
    let ahead = SchemaStatus::Ahead {
        applied: 9999,
        known: 4,
    };
    assert_eq!(scratch.store.schema_status().await.unwrap(), ahead);
    let error = migrate(&PostgresConfig::new(scratch.database.url().into()))
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the schema is at version 9999, this binary knows it up to 4; use a newer binary"
    );
}

/// a changed file is refused, and nothing is applied.
#[tokio::test]
async fn an_altered_migration_is_refused() {
    let scratch = Scratch::on(migrated().await, None);
    scratch
        .database
        .psql(
            "update _sqlx_migrations set checksum = '\\x00' where version = 2; \
               delete from _sqlx_migrations where version = 4;",
        )
        .unwrap();
    let status = scratch.store.schema_status().await;
    assert!(
        matches!(status, Err(SchemaError::Altered { version: 2 })),
        "{status:?}"
    );
    let error = migrate(&PostgresConfig::new(scratch.database.url().into()))
        .await
        .unwrap_err();
    assert!(
        matches!(error, MigrateError::Altered { version: 2 }),
        "{error:?}"
    );
    let applied = scratch
        .database
        .psql("select max(version) from _sqlx_migrations;")
        .unwrap();
    assert_eq!(applied, "3");
}

/// Rule 7 of the migrations: without the extension the block does nothing, and it names every table.
#[test]
fn every_tenant_table_is_distributed_where_the_extension_is() {
    let mut distributed = Vec::new();
    for migration in crate::migrate::MIGRATOR.iter() {
        let sql = migration.sql.as_str();
        let tables = sql
            .split("create table ")
            .skip(1)
            .map(|rest| rest.split(' ').next().unwrap());
        for table in tables {
            let call = format!("create_distributed_table('{table}'");
            let compact = sql.replace("(\n            '", "('");
            if compact.contains(&call) {
                distributed.push(table.to_owned());
            } else {
                assert_eq!(table, "operator_keys", "{table} is not distributed");
            }
        }
    }
    distributed.sort_unstable();
    distributed.dedup();
    assert_eq!(distributed.len(), 12);
}
