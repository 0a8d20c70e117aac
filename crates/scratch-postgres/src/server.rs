//! A server of one owner, who may also crash it.

use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::Error;
use crate::cluster::Cluster;
use crate::installation::Installation;
use crate::processes::{signal, signal_family};
use crate::psql::Admin;
use crate::settings::Settings;

/// A clean stop writes a checkpoint; who does not manage within this is killed.
const STOP_WITHIN: Duration = Duration::from_secs(30);

/// A throwaway Postgres server. Dropping it stops the server and removes its directory; so
/// does the end of this process, however it ends.
pub struct Server {
    /// Behind a lock so that a crash test can kill the server under a running load. Declared
    /// first: the process must be waited for before the reaper looks after it.
    process: Mutex<Process>,
    admin: Admin,
    cluster: Cluster,
}

struct Process(Option<Child>);

impl Server {
    /// Initialises a data directory and starts a server on it; returns when it takes
    /// connections, about a second later.
    pub fn start(settings: Settings) -> Result<Self, Error> {
        let mut cluster = Cluster::create(settings, None)?;
        // From here on the child is waited for even if a later step fails.
        let process = Process(Some(cluster.launch()?));
        Ok(Self {
            process: Mutex::new(process),
            admin: cluster.admin()?,
            cluster,
        })
    }

    /// A connection URL, with the password, for the superuser.
    pub fn url(&self, database: &str) -> String {
        self.admin.url.with_database(database).text()
    }

    pub fn installation(&self) -> &Installation {
        &self.cluster.installation
    }

    pub fn port(&self) -> u16 {
        self.cluster.port
    }

    /// The directory of the unix socket, which takes connections without a password.
    pub fn socket_dir(&self) -> &Path {
        self.cluster.directory.path()
    }

    pub fn data_dir(&self) -> PathBuf {
        self.cluster.data_dir()
    }

    /// The process id of the postmaster, while it runs.
    pub fn pid(&self) -> Option<u32> {
        self.process().0.as_ref().map(Child::id)
    }

    /// The last lines of the server's log.
    pub fn log_tail(&self) -> String {
        self.cluster.directory.log_tail()
    }

    /// Runs statements as the superuser, each in its own transaction, and returns the rows as
    /// `psql -At` prints them.
    pub fn psql(&self, database: &str, sql: &str) -> Result<String, Error> {
        self.admin.run(database, sql)
    }

    pub fn create_database(&self, name: &str, template: Option<&str>) -> Result<(), Error> {
        self.admin.create_database(name, template)
    }

    /// Ends the database's connections and removes it; one that is not there is no error.
    pub fn drop_database(&self, name: &str) -> Result<(), Error> {
        self.admin.drop_database(name)
    }

    /// Kills the postmaster and all its children, as a machine that loses its power would.
    pub fn kill(&self) -> Result<(), Error> {
        let mut process = self.process();
        let child = process.0.as_ref().ok_or(Error::NotRunning)?;
        signal_family(child.id(), Signal::KILL);
        process.wait();
        self.cluster.directory.forget_process();
        Ok(())
    }

    /// Stops every process of the server where it is: connections hang, as with a dead network.
    pub fn pause(&self) -> Result<(), Error> {
        self.signal_all(Signal::STOP)
    }

    /// Lets a paused server go on.
    pub fn resume(&self) -> Result<(), Error> {
        self.signal_all(Signal::CONT)
    }

    fn signal_all(&self, how: Signal) -> Result<(), Error> {
        signal_family(self.pid().ok_or(Error::NotRunning)?, how);
        Ok(())
    }

    /// Ends all connections, writes everything down and stops. The data stay for
    /// [`Server::restart`]; a server that is not running is no error.
    pub fn stop(&self) {
        self.process().end(Signal::INT);
        self.cluster.directory.forget_process();
    }

    /// Starts the server on the same data and port; a running one is stopped first, a killed one
    /// recovers. Returns when it takes connections.
    pub fn restart(&self) -> Result<(), Error> {
        let mut process = self.process();
        process.end(Signal::INT);
        self.cluster.directory.forget_process();
        process.0 = Some(self.cluster.relaunch()?);
        Ok(())
    }

    pub(crate) fn admin(&self) -> &Admin {
        &self.admin
    }

    fn process(&self) -> MutexGuard<'_, Process> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Process {
    /// Asks the process to end, also when it is paused, and takes it away when it does not.
    fn end(&mut self, how: Signal) {
        let Some(child) = self.0.as_mut() else { return };
        signal(child.id(), how);
        signal_family(child.id(), Signal::CONT);
        let deadline = Instant::now() + STOP_WITHIN;
        while matches!(child.try_wait(), Ok(None)) {
            if Instant::now() > deadline {
                signal_family(child.id(), Signal::KILL);
                break;
            }
            thread::sleep(Duration::from_millis(5));
        }
        self.wait();
    }

    fn wait(&mut self) {
        if let Some(mut child) = self.0.take() {
            // It was killed or has ended: this only takes its exit status away.
            let _ = child.wait();
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Immediate: nobody will read these data again.
        self.end(Signal::QUIT);
    }
}
