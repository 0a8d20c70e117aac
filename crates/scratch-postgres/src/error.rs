//! What can go wrong between "no server" and "a server to talk to".

use std::path::{Path, PathBuf};

/// Why there is no scratch server, database or pooler.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No directory with both `initdb` and `postgres` was found anywhere.
    #[error(
        "no PostgreSQL server programs found: install them (Debian, Ubuntu: `apt-get install \
         postgresql`; Fedora: `dnf install postgresql-server`; macOS: `brew install postgresql`) or \
         name the directory of `initdb` and `postgres` in CCM_TEST_PG_BIN"
    )]
    NotInstalled,
    /// `CCM_TEST_PG_BIN` names a directory which is not one of server programs.
    #[error("CCM_TEST_PG_BIN names {0}, which does not hold both `initdb` and `postgres`")]
    NotAnInstallation(PathBuf),
    /// The installation lacks one of the client programs.
    #[error("`{tool}` is not in {directory}: install the client programs of the same version")]
    MissingTool { tool: String, directory: PathBuf },
    /// Postgres refuses to run as root and there is nobody else to run it.
    #[error("PostgreSQL does not run as root: add a user `postgres` or `nobody`")]
    NoAccount,
    /// No `pgbouncer` program was found.
    #[error("no `pgbouncer` found on PATH or in /usr/sbin: install the package `pgbouncer`")]
    PoolerMissing,
    /// A file, a directory or a process could not be worked with.
    #[error("cannot {action} {path}")]
    Io {
        action: &'static str,
        path: PathBuf,
        source: std::io::Error,
    },
    /// Something else than our own directory stands where the run keeps its state.
    #[error("{0} is not a private directory of this user: remove it")]
    ForeignDirectory(PathBuf),
    /// A program ended with an error; `output` is what it said.
    #[error("`{program}` failed: {output}")]
    Failed { program: String, output: String },
    /// The server or the pooler ended or was not ready in time; `log` is the end of its log.
    #[error("{what} did not become ready; the end of its log:\n{log}")]
    NotReady { what: &'static str, log: String },
    /// The operation needs a running server and this one is stopped or killed.
    #[error("the scratch server is not running: call `restart` first")]
    NotRunning,
    /// The connection URL is not one this crate can work with.
    #[error("the connection url is not of the form postgres://user:password@host:port/database")]
    BadUrl,
    /// The caller's own preparation of a template failed; the template was dropped.
    #[error("the template could not be prepared")]
    Prepare(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl Error {
    /// For `map_err`: names what was tried on which path.
    pub(crate) fn io(
        action: &'static str,
        path: impl AsRef<Path>,
    ) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.as_ref().to_path_buf();
        move |source| Self::Io {
            action,
            path,
            source,
        }
    }
}
