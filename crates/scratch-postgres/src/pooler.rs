//! A transaction-mode `pgbouncer` in front of a server.

use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::Error;
use crate::account::Account;
use crate::cluster::free_port;
use crate::connection_url::ConnectionUrl;
use crate::installation::program;
use crate::processes::signal;
use crate::scratch_dir::ScratchDir;

const READY_WITHIN: Duration = Duration::from_secs(20);

/// A running pooler. Dropping it stops it and removes its directory; so does the end of this
/// process, however it ends.
pub struct PgBouncer {
    process: Process,
    url: ConnectionUrl,
    directory: ScratchDir,
}

struct Process(Child);

impl PgBouncer {
    /// Starts a pooler which hands the connections of a small pool out for one transaction at a
    /// time. `url` is of any database of the server, which must take the password in the URL.
    pub fn start(url: &str, pool_size: u16) -> Result<Self, Error> {
        let program = find()?;
        let upstream = ConnectionUrl::parse(url)?;
        let directory = ScratchDir::create("pgbouncer", Account::for_servers()?)?;
        let port = free_port()?;
        let users = format!(
            "{} {}\n",
            quoted(upstream.user()),
            quoted(upstream.password())
        );
        let users = directory.write("users", &users)?;
        let ini = format!(
            "[databases]\n\
             * = host={} port={}\n\
             [pgbouncer]\n\
             listen_addr = 127.0.0.1\n\
             listen_port = {port}\n\
             unix_socket_dir =\n\
             auth_type = md5\n\
             auth_file = {}\n\
             pool_mode = transaction\n\
             default_pool_size = {pool_size}\n\
             max_client_conn = 1000\n\
             ignore_startup_parameters = extra_float_digits\n",
            upstream.host(),
            upstream.port(),
            users.display(),
        );
        let ini = directory.write("pgbouncer.ini", &ini)?;
        let child = directory.spawn("TERM", &program, &[&ini.to_string_lossy()])?;
        let mut pooler = Self {
            process: Process(child),
            url: upstream.with_port(port),
            directory,
        };
        pooler.wait_until_ready(port)?;
        Ok(pooler)
    }

    fn wait_until_ready(&mut self, port: u16) -> Result<(), Error> {
        let deadline = Instant::now() + READY_WITHIN;
        while matches!(self.process.0.try_wait(), Ok(None)) && Instant::now() < deadline {
            if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return Ok(());
            }
            thread::sleep(Duration::from_millis(10));
        }
        Err(Error::NotReady {
            what: "pgbouncer",
            log: self.log_tail(),
        })
    }

    /// A connection URL through the pooler, with the password.
    pub fn url(&self, database: &str) -> String {
        self.url.with_database(database).text()
    }

    /// Where its configuration and its log are.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// The last lines of the pooler's log.
    pub fn log_tail(&self) -> String {
        self.directory.log_tail()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        signal(self.0.id(), Signal::TERM);
        let deadline = Instant::now() + Duration::from_secs(5);
        while matches!(self.0.try_wait(), Ok(None)) && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(5));
        }
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn find() -> Result<PathBuf, Error> {
    let further = [
        "/usr/sbin",
        "/usr/local/sbin",
        "/usr/local/bin",
        "/opt/homebrew/bin",
    ];
    program("pgbouncer", &further).ok_or(Error::PoolerMissing)
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}
