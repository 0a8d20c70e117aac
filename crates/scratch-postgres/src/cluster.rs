//! One data directory: `initdb`, and the server process on it.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::Error;
use crate::account::Account;
use crate::connection_url::ConnectionUrl;
use crate::installation::Installation;
use crate::psql::Admin;
use crate::scratch_dir::{ScratchDir, random_hex};
use crate::settings::Settings;

const SUPERUSER: &str = "postgres";
/// Generous: a loaded two-core machine with other tests, and recovery after a crash.
const READY_WITHIN: Duration = Duration::from_mins(1);
/// How long backends of a killed server may keep the port or the memory of the next one.
const OLD_GONE_WITHIN: Duration = Duration::from_secs(15);
const POLL: Duration = Duration::from_millis(10);

/// An initialised data directory in its scratch directory.
pub(crate) struct Cluster {
    pub(crate) installation: Installation,
    pub(crate) directory: ScratchDir,
    settings: Settings,
    password: String,
    pub(crate) port: u16,
}

impl Cluster {
    /// Runs `initdb`; `run` is where the directory can later be handed over to.
    pub(crate) fn create(settings: Settings, run: Option<(&Path, u32)>) -> Result<Self, Error> {
        let installation = Installation::find()?;
        let account = Account::for_servers()?;
        let below = settings.below.as_deref();
        let directory = ScratchDir::create_for_run("postgres", account, run, below)?;
        let password = random_hex(16)?;
        let cluster = Self {
            installation,
            directory,
            settings,
            password,
            port: free_port()?,
        };
        cluster.initdb()?;
        cluster.configure()?;
        Ok(cluster)
    }

    /// The socket stands in a directory of mode 0700 and needs no password; over TCP any user of
    /// the machine could come, hence a random one. In clear text: nobody listens on the loopback,
    /// and the thousands of hash rounds of SCRAM would be paid by every unoptimised test client.
    fn initdb(&self) -> Result<(), Error> {
        let password_file = self.directory.write("password", &self.password)?;
        let data = self.data_dir();
        let (data, file) = (data.to_string_lossy(), password_file.to_string_lossy());
        #[rustfmt::skip]
        let args = [
            "--no-sync", "-E", "UTF8", "--locale=C", "-U", SUPERUSER, "--auth-local=trust",
            "--auth-host=password", "--pwfile", &file, "-D", &data,
        ];
        let program = self.installation.tool("initdb")?;
        let mut child = self.directory.spawn("QUIT", &program, &args)?;
        let status = child.wait().map_err(Error::io("wait for", &program))?;
        self.directory.forget_process();
        if !status.success() {
            let output = self.directory.log_tail();
            return Err(Error::Failed {
                program: "initdb".to_owned(),
                output,
            });
        }
        fs::remove_file(&password_file).map_err(Error::io("remove", &password_file))
    }

    /// Appends our settings; an earlier appended block loses to the later one.
    fn configure(&self) -> Result<(), Error> {
        let path = self.data_dir().join("postgresql.conf");
        let text = self
            .settings
            .configuration(self.directory.path(), self.port);
        OpenOptions::new()
            .append(true)
            .open(&path)
            .and_then(|mut file| file.write_all(format!("\n{text}").as_bytes()))
            .map_err(Error::io("write", &path))
    }

    /// Starts the server for the first time; another process may take the probed port before
    /// the server does, then the next one is tried.
    pub(crate) fn launch(&mut self) -> Result<Child, Error> {
        const PORTS: usize = 5;
        for _ in 1..PORTS {
            match self.try_launch() {
                Err(Error::NotReady { log, .. }) if log.contains("Address already in use") => {
                    self.port = free_port()?;
                    self.configure()?;
                }
                other => return other,
            }
        }
        self.try_launch()
    }

    /// Starts the server on the same port again, also while something of the killed one lingers.
    pub(crate) fn relaunch(&self) -> Result<Child, Error> {
        let started = Instant::now();
        loop {
            match self.try_launch() {
                Err(Error::NotReady { log, .. })
                    if lingering(&log) && started.elapsed() < OLD_GONE_WITHIN =>
                {
                    thread::sleep(POLL * 10);
                }
                other => return other,
            }
        }
    }

    fn try_launch(&self) -> Result<Child, Error> {
        let data = self.data_dir();
        let program = self.installation.tool("postgres")?;
        let said_before = fs::metadata(self.directory.log_path()).map_or(0, |log| log.len());
        let mut child = self
            .directory
            .spawn("QUIT", &program, &["-D", &data.to_string_lossy()])?;
        if self.wait_until_ready(&mut child) {
            return Ok(child);
        }
        // The directory is about to be removed or used again: nothing may be left running.
        let _ = child.kill();
        let _ = child.wait();
        self.directory.forget_process();
        let log = fs::read(self.directory.log_path()).unwrap_or_default();
        let new = log
            .get(usize::try_from(said_before).unwrap_or(0)..)
            .unwrap_or_default();
        let log = String::from_utf8_lossy(new).trim().to_owned();
        Err(Error::NotReady {
            what: "the scratch server",
            log,
        })
    }

    /// False when the server ended or the time is over. The lock file's last line is cheap to
    /// watch; a real connection attempt then has the last word.
    fn wait_until_ready(&self, child: &mut Child) -> bool {
        let lock = self.data_dir().join("postmaster.pid");
        let deadline = Instant::now() + READY_WITHIN;
        while Instant::now() < deadline {
            if !matches!(child.try_wait(), Ok(None)) {
                return false;
            }
            let lines = fs::read_to_string(&lock).unwrap_or_default();
            let mut lines = lines.lines();
            let ours = lines.next().and_then(|pid| pid.parse().ok()) == Some(child.id());
            let ready = lines.nth(6).is_some_and(|status| status.trim() == "ready");
            if ours && ready && self.accepts_connections() {
                return true;
            }
            thread::sleep(POLL);
        }
        false
    }

    fn accepts_connections(&self) -> bool {
        let Ok(program) = self.installation.tool("pg_isready") else {
            return false;
        };
        Command::new(program)
            .args([
                "-q",
                "-h",
                "127.0.0.1",
                "-p",
                &self.port.to_string(),
                "-U",
                SUPERUSER,
            ])
            .stdin(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    }

    pub(crate) fn data_dir(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    pub(crate) fn admin(&self) -> Result<Admin, Error> {
        Ok(Admin {
            psql: self.installation.tool("psql")?,
            url: ConnectionUrl::local(self.port, SUPERUSER, &self.password),
            major: self.installation.major(),
        })
    }
}

fn lingering(log: &str) -> bool {
    // The memory segment, the lock file and the port of the server that was killed.
    [
        "is still in use",
        "already exists",
        "Address already in use",
    ]
    .iter()
    .any(|sign| log.contains(sign))
}

/// A port that is free now. Below the range from which the kernel serves outgoing connections,
/// so that none of these takes it while a server is down between kill and restart.
pub(crate) fn free_port() -> Result<u16, Error> {
    const FIRST: u16 = 20_000;
    const COUNT: u16 = 12_000;
    for _ in 0..200 {
        let random = u16::from_str_radix(&random_hex(2)?, 16).expect("four hexadecimal digits");
        let port = FIRST + random % COUNT;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return Ok(port);
        }
    }
    let any = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    any.map(|address| address.port())
        .map_err(Error::io("listen on", "127.0.0.1"))
}
