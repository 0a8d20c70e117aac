//! A server of one owner: starting, using, crashing, ending.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Instant;

use throughline_scratch_postgres::{Error, Server, Settings};

fn gone(pid: u32, directory: &Path) -> bool {
    !Path::new(&format!("/proc/{pid}")).exists() && !directory.exists()
}

#[test]
fn a_started_server_answers_and_a_dropped_one_is_gone() {
    let begun = Instant::now();
    let server = Server::start(Settings::default()).unwrap();
    println!("started in {:?}", begun.elapsed());
    assert_eq!(server.psql("postgres", "select 6 * 7;").unwrap(), "42");
    let version = server.psql("postgres", "show server_version;").unwrap();
    assert_eq!(version, server.installation().version());
    let (pid, directory) = (server.pid().unwrap(), server.socket_dir().to_path_buf());
    let mode = directory.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o700);
    let begun = Instant::now();
    drop(server);
    println!("ended in {:?}", begun.elapsed());
    assert!(gone(pid, &directory));
}

#[test]
fn fast_and_durable_differ_in_what_a_commit_waits_for() {
    let question = "select setting from pg_settings where name in \
        ('fsync', 'full_page_writes', 'synchronous_commit') order by name;";
    let fast = Server::start(Settings::default()).unwrap();
    assert_eq!(fast.psql("postgres", question).unwrap(), "off\noff\noff");
    let durable = Server::start(Settings::durable().with("work_mem", "5MB")).unwrap();
    assert_eq!(durable.psql("postgres", question).unwrap(), "on\non\non");
    assert_eq!(durable.psql("postgres", "show work_mem;").unwrap(), "5MB");
    assert_ne!(fast.port(), durable.port());
}

#[test]
fn a_wrong_password_is_refused_over_tcp() {
    let server = Server::start(Settings::default()).unwrap();
    let psql = server.installation().tool("psql").unwrap();
    let (scheme, rest) = ("postgres://postgres:guess", server.url("postgres"));
    let url = format!("{scheme}@{}", rest.split_once('@').unwrap().1);
    let output = std::process::Command::new(psql)
        .args(["-d", &url, "-c", "select 1"])
        .output();
    let output = output.unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("authentication failed"));
}

#[test]
fn databases_are_made_from_a_template_and_dropped_with_their_connections() {
    let server = Server::start(Settings::default()).unwrap();
    server.create_database("odd \"name", None).unwrap();
    server
        .psql("odd \"name", "create table t as select 7 as n;")
        .unwrap();
    server.create_database("copy", Some("odd \"name")).unwrap();
    assert_eq!(server.psql("copy", "select n from t;").unwrap(), "7");
    server.drop_database("copy").unwrap();
    server.drop_database("copy").unwrap();
    let error = server.psql("copy", "select 1;").unwrap_err();
    assert!(matches!(error, Error::Failed { output, .. } if output.contains("does not exist")));
}

#[test]
fn a_committed_row_survives_a_kill_and_an_uncommitted_one_does_not() {
    let server = Server::start(Settings::durable()).unwrap();
    server
        .psql(
            "postgres",
            "create table t (n int); insert into t values (1);",
        )
        .unwrap();
    for round in 0..3 {
        let url = server.url("postgres");
        let psql = server.installation().tool("psql").unwrap();
        let open = "begin; insert into t values (2); select pg_sleep(60); commit;";
        let mut writer = std::process::Command::new(psql)
            .args(["-q", "-d", &url, "-c", open])
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        while server
            .psql(
                "postgres",
                "select 1 from pg_stat_activity where wait_event = 'PgSleep';",
            )
            .unwrap()
            .is_empty()
        {}
        let (port, old) = (server.port(), server.pid());
        server.kill().unwrap();
        assert_eq!(server.pid(), None, "round {round}");
        assert!(matches!(server.kill(), Err(Error::NotRunning)));
        assert!(!writer.wait().unwrap().success());
        server.restart().unwrap();
        assert_eq!(server.port(), port);
        assert_ne!(server.pid(), old);
        assert_eq!(server.psql("postgres", "select n from t;").unwrap(), "1");
    }
}

#[test]
fn a_stopped_server_keeps_its_data_for_a_restart() {
    let server = Server::start(Settings::default()).unwrap();
    server
        .psql("postgres", "create table t as select 3 as n;")
        .unwrap();
    server.stop();
    assert!(server.psql("postgres", "select 1;").is_err());
    server.restart().unwrap();
    server.restart().unwrap();
    assert_eq!(server.psql("postgres", "select n from t;").unwrap(), "3");
}

#[test]
fn a_paused_server_answers_only_after_it_is_resumed() {
    let server = Server::start(Settings::default()).unwrap();
    let answers = || {
        std::process::Command::new(server.installation().tool("pg_isready").unwrap())
            .args(["-q", "-t", "1", "-d", &server.url("postgres")])
            .status()
            .unwrap()
            .success()
    };
    server.pause().unwrap();
    assert!(!answers());
    server.resume().unwrap();
    assert!(answers());
}

#[test]
fn a_paused_or_killed_server_is_cleaned_up_too() {
    let paused = Server::start(Settings::default()).unwrap();
    paused.pause().unwrap();
    let (pid, directory) = (paused.pid().unwrap(), paused.socket_dir().to_path_buf());
    drop(paused);
    assert!(gone(pid, &directory));
    let killed = Server::start(Settings::default()).unwrap();
    let (pid, directory) = (killed.pid().unwrap(), killed.socket_dir().to_path_buf());
    killed.kill().unwrap();
    drop(killed);
    assert!(gone(pid, &directory));
}

#[test]
fn a_setting_the_server_refuses_is_told_with_its_log() {
    let refused = Server::start(Settings::default().with("no_such_setting", "1"));
    let Err(Error::NotReady { log, .. }) = refused else {
        panic!("the server started")
    };
    assert!(log.contains("no_such_setting"), "{log}");
}

#[test]
fn a_killed_server_leaves_no_shared_memory() {
    let server = Server::start(Settings::default()).unwrap();
    let maps = std::fs::read_to_string(format!("/proc/{}/maps", server.pid().unwrap())).unwrap();
    assert!(
        !maps.contains("/dev/shm/"),
        "a segment outside of the directory"
    );
    let lock = std::fs::read_to_string(server.data_dir().join("postmaster.pid")).unwrap();
    let id = lock
        .lines()
        .nth(6)
        .and_then(|line| line.split_whitespace().nth(1))
        .unwrap();
    let is_there = || {
        let segments = std::fs::read_to_string("/proc/sysvipc/shm").unwrap();
        segments
            .lines()
            .any(|line| line.split_whitespace().nth(1) == Some(id))
    };
    assert!(is_there());
    server.kill().unwrap();
    drop(server);
    assert!(!is_there());
}
