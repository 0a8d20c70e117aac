//! A pooler in front of a server.

use std::path::PathBuf;
use std::process::Command;

use throughline_scratch_postgres::{Error, PgBouncer, Shared};

fn pooler(shared: &Shared) -> Option<PgBouncer> {
    match PgBouncer::start(&shared.url("postgres"), 1) {
        Err(Error::PoolerMissing) => {
            println!("skipped: {}", Error::PoolerMissing);
            None
        }
        other => Some(other.unwrap()),
    }
}

fn ask(url: &str, sql: &str) -> String {
    let psql = throughline_scratch_postgres::Installation::find()
        .unwrap()
        .tool("psql")
        .unwrap();
    let output = Command::new(psql)
        .args(["-X", "-A", "-t", "-q", "-c", sql, "-d", url])
        .output();
    let output = output.unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn clients_share_one_server_connection_and_reach_their_database() {
    let shared = Shared::attach().unwrap();
    let Some(pooler) = pooler(&shared) else {
        return;
    };
    let database = shared.empty_database().unwrap();
    let url = pooler.url(database.name());
    assert_eq!(ask(&url, "select current_database();"), database.name());
    let backend = ask(&url, "select pg_backend_pid();");
    assert_eq!(ask(&url, "select pg_backend_pid();"), backend);
}

#[test]
fn a_dropped_pooler_is_gone() {
    let shared = Shared::attach().unwrap();
    let Some(pooler) = pooler(&shared) else {
        return;
    };
    let port = pooler
        .url("x")
        .rsplit_once(':')
        .unwrap()
        .1
        .split_once('/')
        .unwrap()
        .0
        .to_owned();
    let directory: PathBuf = pooler.directory().to_path_buf();
    assert!(directory.exists());
    drop(pooler);
    assert!(!directory.exists() && !crate::holder::is_lived_in(&directory));
    let address = format!("127.0.0.1:{port}");
    assert!(std::net::TcpStream::connect(address).is_err());
}
