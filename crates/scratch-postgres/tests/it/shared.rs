//! One server per run, whatever happens to the processes that use it.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use throughline_scratch_postgres::{Error, Server, Settings, Shared, Template};

use crate::holder::{Holder, is_lived_in, within};

/// Five idle seconds and the end itself.
const AFTER_GRACE: Duration = Duration::from_secs(20);

fn run_of_its_own(name: &str) -> String {
    format!("{} {name}", std::process::id())
}

#[test]
fn processes_of_a_run_share_a_server_that_ends_after_the_last_was_killed() {
    let run = run_of_its_own("killed");
    let environment = [("NEXTEST_RUN_ID", run.as_str())];
    // Both at once: one starts the server and the other waits for it.
    let (mut first, mut second) = (
        Holder::start("shared", &environment),
        Holder::start("shared", &environment),
    );
    let ((data, one), (same, other)) = (first.holds(), second.holds());
    assert_eq!(data, same);
    assert_ne!(one, other);
    first.kill();
    let mut third = Holder::start("shared", &environment);
    assert_eq!(third.holds().0, data);
    second.kill();
    third.kill();
    let directory = PathBuf::from(data).parent().unwrap().to_path_buf();
    let took = within(AFTER_GRACE, "the server is gone", || {
        !directory.exists() && !is_lived_in(&directory)
    });
    assert!(
        took > Duration::from_secs(3),
        "the next test would have had to start it again"
    );
    println!("all gone {took:?} after the last kill");
}

#[test]
fn another_run_has_another_server() {
    let (mut one, mut other) = (
        Holder::start("shared", &[("NEXTEST_RUN_ID", &run_of_its_own("one"))]),
        Holder::start("shared", &[("NEXTEST_RUN_ID", &run_of_its_own("other"))]),
    );
    assert_ne!(one.holds().0, other.holds().0);
    one.kill();
    other.kill();
}

#[test]
fn a_crashed_server_is_replaced_for_who_comes_later() {
    let run = run_of_its_own("crashed");
    let environment = [("NEXTEST_RUN_ID", run.as_str())];
    let mut before = Holder::start("shared", &environment);
    let data = before.holds().0;
    let lock = std::fs::read_to_string(format!("{data}/postmaster.pid")).unwrap();
    let pid = lock.lines().next().unwrap();
    assert!(
        std::process::Command::new("kill")
            .args(["-QUIT", pid])
            .status()
            .unwrap()
            .success()
    );
    within(AFTER_GRACE, "it crashed", || {
        !PathBuf::from(format!("{data}/postmaster.pid")).exists()
    });
    let mut after = Holder::start("shared", &environment);
    let new = after.holds().0;
    assert_ne!(new, data);
    before.kill();
    after.kill();
    within(AFTER_GRACE, "both directories are gone", || {
        !PathBuf::from(&data).exists() && !PathBuf::from(&new).exists()
    });
}

#[test]
fn a_server_from_outside_keeps_nothing_of_the_run() {
    let server = Server::start(Settings::default()).unwrap();
    let (run, url) = (run_of_its_own("outside"), server.url("postgres"));
    let mut holder = Holder::start(
        "shared",
        &[
            ("NEXTEST_RUN_ID", run.as_str()),
            ("CCM_TEST_DATABASE_URL", &url),
        ],
    );
    let (data, name) = holder.holds();
    assert_eq!(PathBuf::from(data), server.data_dir());
    assert_eq!(server.psql(&name, "select n from t;").unwrap(), "1");
    holder.kill();
    let scratch = "select count(*) from pg_database where datname ~ '^scratch_';";
    assert_eq!(server.psql("postgres", scratch).unwrap(), "2");
    within(AFTER_GRACE, "template and database are dropped", || {
        server.psql("postgres", scratch).unwrap() == "0"
    });
}

#[test]
fn a_template_is_prepared_once_however_many_ask() {
    let shared = Shared::attach().unwrap();
    let prepared = AtomicU32::new(0);
    std::thread::scope(|scope| {
        for number in 0..8 {
            let (shared, prepared) = (&shared, &prepared);
            scope.spawn(move || {
                let database = shared
                    .database_from_template("once", |url| {
                        prepared.fetch_add(1, Ordering::SeqCst);
                        let name = url.rsplit_once('/').unwrap().1;
                        shared.psql(name, "create table t (n int);").map(drop)
                    })
                    .unwrap();
                database
                    .psql(&format!("insert into t values ({number});"))
                    .unwrap();
                assert_eq!(
                    database.psql("select n from t;").unwrap(),
                    number.to_string()
                );
            });
        }
    });
    assert_eq!(prepared.load(Ordering::SeqCst), 1);
}

#[test]
fn a_failed_preparation_is_told_and_may_be_tried_again() {
    let shared = Shared::attach().unwrap();
    let failed = shared.database_from_template("fails", |_| Err::<(), _>("no such migration"));
    let Err(Error::Prepare(source)) = failed else {
        panic!("it was prepared")
    };
    assert_eq!(source.to_string(), "no such migration");
    let Template::Missing(missing) = shared.template("fails").unwrap() else {
        panic!("it is there")
    };
    drop(missing);
    let again = shared.database_from_template("fails", |_| Ok::<(), Error>(()));
    assert_eq!(again.unwrap().psql("select 1;").unwrap(), "1");
}

#[test]
fn a_template_is_published_although_a_connection_was_left_open() {
    let shared = Shared::attach().unwrap();
    let Template::Missing(missing) = shared.template("open").unwrap() else {
        panic!("it is there")
    };
    let psql = throughline_scratch_postgres::Installation::find()
        .unwrap()
        .tool("psql")
        .unwrap();
    let mut left_open = std::process::Command::new(psql)
        .args([
            "-q",
            "-d",
            missing.url(),
            "-c",
            "create table t(); select pg_sleep(60);",
        ])
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let asleep = format!(
        "select count(*) from pg_stat_activity where wait_event = 'PgSleep' and datname = '{}';",
        missing.url().rsplit_once('/').unwrap().1
    );
    within(AFTER_GRACE, "it sleeps", || {
        shared.psql("postgres", &asleep).unwrap() == "1"
    });
    let ready = missing.publish().unwrap();
    assert!(!left_open.wait().unwrap().success());
    drop(ready.database().unwrap());
}

#[test]
fn a_dropped_guard_drops_its_database_with_the_connections() {
    let shared = Shared::attach().unwrap();
    let database = shared.empty_database().unwrap();
    let name = database.name().to_owned();
    drop(database);
    let left = format!("select count(*) from pg_database where datname = '{name}';");
    assert_eq!(shared.psql("postgres", &left).unwrap(), "0");
}

#[test]
fn a_database_of_ones_own_costs_milliseconds() {
    let shared = Shared::attach().unwrap();
    let get = || {
        shared
            .database_from_template("cost", |_| Ok::<(), Error>(()))
            .unwrap()
    };
    drop(get());
    let begun = Instant::now();
    let databases: Vec<_> = (0..10).map(|_| get()).collect();
    let created = begun.elapsed() / 10;
    let begun = Instant::now();
    drop(databases);
    println!(
        "created in {created:?}, dropped in {:?}",
        begun.elapsed() / 10
    );
    // Far from what it costs, and far from what a server of one's own costs.
    assert!(created < Duration::from_millis(500), "{created:?}");
}

#[test]
fn an_asynchronous_preparation_needs_no_runtime_of_ours() {
    let shared = Shared::attach().unwrap();
    let mut future = std::pin::pin!(shared.database_from_template_async(
        "async",
        async |url: &str| {
            std::future::ready(()).await;
            shared
                .psql(url.rsplit_once('/').unwrap().1, "create table t (n int);")
                .map(drop)
        }
    ));
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    let std::task::Poll::Ready(database) = future.as_mut().poll(&mut context) else {
        panic!("it waits for something")
    };
    assert_eq!(
        database.unwrap().psql("select count(*) from t;").unwrap(),
        "0"
    );
}
