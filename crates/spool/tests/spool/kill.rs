//! A process that is killed loses nothing it was told is kept.

use std::io::{BufRead, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;

use throughline_domain::{SystemClock, SystemIds};
use throughline_spool::{Queued, Spool, SpoolConfig};

use crate::support::{Fixture, entry, key};

const DIRECTORY: &str = "SPOOL_KILL_TEST_DIRECTORY";
const ACKNOWLEDGED: usize = 100;

#[tokio::test]
async fn a_killed_process_loses_no_acknowledged_entry() {
    let fixture = Fixture::new();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "kill::child_that_enqueues_until_killed",
            "--exact",
            "--ignored",
            "--nocapture",
        ])
        .env(DIRECTORY, fixture.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let acknowledged: Vec<String> = lines
        .map_while(Result::ok)
        .filter_map(|line| Some(line.split_once("acknowledged ")?.1.to_owned()))
        .take(ACKNOWLEDGED)
        .collect();
    // SIGKILL, while it goes on enqueueing.
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(acknowledged.len(), ACKNOWLEDGED);

    let spool = fixture.open().await;
    for name in &acknowledged {
        let again = spool.enqueue(entry("acme", name)).await.unwrap();
        assert!(matches!(again, Queued::Again(_)), "{name} was lost");
    }
    let stats = spool.stats();
    assert!(stats.pending.entries >= ACKNOWLEDGED as u64);
    assert_eq!(stats.corrupt_total, 0);
}

#[tokio::test]
#[ignore = "the child of the test above"]
async fn child_that_enqueues_until_killed() {
    let Some(directory) = std::env::var_os(DIRECTORY).map(PathBuf::from) else {
        return;
    };
    let (clock, ids) = (Arc::new(SystemClock), Arc::new(SystemIds));
    let spool = Spool::open(&directory, SpoolConfig::default(), &key(1), clock, ids)
        .await
        .unwrap();
    for round in 0.. {
        let calls = (0..8).map(|n| {
            let (spool, name) = (spool.clone(), format!("{round}-{n}"));
            async move {
                spool.enqueue(entry("acme", &name)).await.unwrap();
                let mut out = std::io::stdout().lock();
                // The parent is gone when this fails.
                if writeln!(out, "acknowledged {name}")
                    .and_then(|()| out.flush())
                    .is_err()
                {
                    std::process::exit(0);
                }
            }
        });
        futures_util::future::join_all(calls).await;
    }
}
