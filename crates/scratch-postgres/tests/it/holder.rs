//! A second process of this test program, to be killed.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use throughline_scratch_postgres::{Server, Settings, Shared};

const ROLE: &str = "SCRATCH_HOLDER_ROLE";

/// The body of the second process: takes what its role says, tells it and never ends by itself.
#[test]
#[ignore = "started by other tests as a process of its own"]
fn holder() {
    let Ok(role) = env::var(ROLE) else { return };
    match role.as_str() {
        "server" => {
            let server = Server::start(Settings::default()).unwrap();
            tell(&format!(
                "{} {}",
                server.pid().unwrap(),
                server.socket_dir().display()
            ));
            hold_for_ever();
        }
        "shared" => {
            let shared = Shared::attach().unwrap();
            let database = shared
                .database_from_template("holder", |url| {
                    assert!(url.contains("/scratch_"));
                    shared.psql(url.rsplit_once('/').unwrap().1, "create table t (n int);")?;
                    Ok::<_, throughline_scratch_postgres::Error>(())
                })
                .unwrap();
            database.psql("insert into t values (1);").unwrap();
            let data = shared.psql("postgres", "show data_directory;").unwrap();
            tell(&format!("{data} {}", database.name()));
            hold_for_ever();
        }
        other => panic!("no role {other}"),
    }
}

/// Parking alone may end for no reason.
fn hold_for_ever() -> ! {
    loop {
        thread::park();
    }
}

fn tell(what: &str) {
    // On a line of its own: the test harness has begun one.
    println!("\nHOLDS {what}");
}

/// A holder whose answer has not been waited for.
pub(crate) struct Holder(pub(crate) Child);

impl Holder {
    pub(crate) fn start(role: &str, environment: &[(&str, &str)]) -> Self {
        let child = Command::new(env::current_exe().unwrap())
            .args(["holder::holder", "--exact", "--ignored", "--nocapture"])
            .env(ROLE, role)
            .env_remove("CCM_TEST_DATABASE_URL")
            .envs(environment.iter().copied())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Self(child)
    }

    /// The two words it tells when it has what it should hold.
    pub(crate) fn holds(&mut self) -> (String, String) {
        let lines = BufReader::new(self.0.stdout.take().unwrap()).lines();
        let mut told = lines.map_while(Result::ok);
        let line = told.find_map(|line| line.strip_prefix("HOLDS ").map(str::to_owned));
        let (first, second) = line.as_deref().unwrap().split_once(' ').unwrap();
        (first.to_owned(), second.to_owned())
    }

    /// SIGKILL: no destructor runs.
    pub(crate) fn kill(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// Polls: there is nobody to be told by when another process has finished.
pub(crate) fn within(limit: Duration, what: &str, mut condition: impl FnMut() -> bool) -> Duration {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < limit, "not within {limit:?}: {what}");
        thread::sleep(Duration::from_millis(5));
    }
    begun.elapsed()
}

/// Whether any process works inside this directory, also after it was removed.
pub(crate) fn is_lived_in(directory: &Path) -> bool {
    let directory = directory.to_string_lossy().into_owned();
    fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        fs::read_link(entry.path().join("cwd"))
            .is_ok_and(|cwd| cwd.to_string_lossy().starts_with(&directory))
    })
}
