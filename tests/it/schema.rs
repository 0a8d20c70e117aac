//! Start-up: who makes the schema, and who refuses to touch it.

use std::time::{Duration, Instant};

use throughline_scratch_postgres::{Database, Shared};
use throughline_tests::{Service, migrated_database, throughline};

fn empty_database() -> Database {
    Shared::attach()
        .and_then(|shared| shared.empty_database())
        .expect("a database")
}

// failures.md 29
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_servers_at_once_on_an_empty_database_come_up_on_one_schema_twenty_times() {
    for _ in 0..20 {
        let database = empty_database();
        let url = [("CCM_DATABASE_URL", database.url())];
        let mut services: Vec<Service> = (0..5)
            .map(|_| Service::start(&["--migrate"], &url))
            .collect();
        for service in &mut services {
            service.ready().await;
        }
        let versions = "select count(*), count(distinct version) from _sqlx_migrations";
        let counted = database.psql(versions).expect("reads");
        let (rows, distinct) = counted.trim().split_once('|').expect("two columns");
        assert_eq!(rows, distinct, "each migration ran once");
    }
}

#[tokio::test]
async fn without_migrate_an_empty_database_is_refused_with_the_command_to_run() {
    let database = empty_database();
    let refused = throughline(
        &["serve", "--listen", "127.0.0.1:0"],
        &[("CCM_DATABASE_URL", database.url())],
    );
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(
        refused.stderr.contains("throughline migrate"),
        "{refused:?}"
    );
}

// failures.md 29
#[tokio::test]
async fn a_binary_older_than_the_schema_refuses_clearly() {
    let database = migrated_database();
    let future = "insert into _sqlx_migrations (version, description, success, checksum, execution_time) \
                  values (9999, 'from a later release', true, '\\x00', 0)";
    database.psql(future).expect("writes");
    for arguments in [&["serve", "--listen", "127.0.0.1:0"][..], &["migrate"]] {
        let refused = throughline(arguments, &[("CCM_DATABASE_URL", database.url())]);
        assert_eq!(refused.code, Some(1), "{refused:?}");
        assert!(refused.stderr.contains("9999"), "{refused:?}");
    }
}

//
#[tokio::test]
async fn a_second_migrate_changes_nothing_and_an_edited_migration_is_refused() {
    let database = empty_database();
    let url = [("CCM_DATABASE_URL", database.url())];
    throughline(&["migrate"], &url).succeeded();
    let before = database.psql("table _sqlx_migrations").expect("reads");
    throughline(&["migrate"], &url).succeeded();
    assert_eq!(
        database.psql("table _sqlx_migrations").expect("reads"),
        before
    );
    database
        .psql("update _sqlx_migrations set checksum = '\\x00' where version = 1")
        .expect("writes");
    let refused = throughline(&["migrate"], &url);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("checksum"), "{refused:?}");
}

/// Waits until `/readyz` answers so, and gives its body.
async fn readiness(service: &Service, status: u16) -> serde_json::Value {
    let client = service.client("");
    let begun = Instant::now();
    loop {
        let answer = client.get("/readyz").await;
        if answer.status == status {
            return answer.body;
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "{answer:?}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_or_a_migration_that_goes_missing_ends_readiness_until_it_is_back() {
    let database = migrated_database();
    let mut service = Service::start(&[], &[("CCM_DATABASE_URL", database.url())]);
    service.ready().await;
    for (away, back) in [
        (
            "alter table ccm_outbox rename to hidden",
            "alter table hidden rename to ccm_outbox",
        ),
        (
            "create table hidden as select * from _sqlx_migrations where version = 30;
             delete from _sqlx_migrations where version = 30",
            "insert into _sqlx_migrations select * from hidden",
        ),
    ] {
        database.psql(away).expect("writes");
        let said = readiness(&service, 503).await;
        assert_eq!(said["detail"], "not ready: schema_unfit");
        database.psql(back).expect("writes");
        readiness(&service, 200).await;
    }
}
