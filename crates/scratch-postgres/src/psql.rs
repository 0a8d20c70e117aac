//! Administration through the `psql` of the installation, so that this crate needs no driver.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use crate::Error;
use crate::connection_url::ConnectionUrl;

/// A server and the program to talk to it.
#[derive(Clone)]
pub(crate) struct Admin {
    pub(crate) psql: PathBuf,
    pub(crate) url: ConnectionUrl,
    /// `create database` takes a strategy from version 15 on.
    pub(crate) major: u32,
}

impl Admin {
    /// Runs statements, each in its own transaction, and returns the rows as `psql -At` prints
    /// them. The first failing statement ends the run.
    pub(crate) fn run(&self, database: &str, sql: &str) -> Result<String, Error> {
        run(&self.psql, &self.url.with_database(database), sql)
    }

    /// Runs statements about databases in the one that the server's URL names.
    pub(crate) fn maintain(&self, sql: &str) -> Result<(), Error> {
        self.run(self.url.database(), sql).map(drop)
    }

    pub(crate) fn create_database(&self, name: &str, template: Option<&str>) -> Result<(), Error> {
        self.maintain(&self.create_statement(name, template))
    }

    fn create_statement(&self, name: &str, template: Option<&str>) -> String {
        let name = quote_identifier(name);
        let Some(template) = template.map(quote_identifier) else {
            return format!("create database {name};");
        };
        let strategy = if self.major >= 15 {
            " strategy wal_log"
        } else {
            ""
        };
        format!("create database {name} template {template}{strategy};")
    }

    /// Ends the database's connections and removes it; one that is not there is no error.
    pub(crate) fn drop_database(&self, name: &str) -> Result<(), Error> {
        let name = quote_identifier(name);
        self.maintain(&format!("drop database if exists {name} with (force);"))
    }
}

pub(crate) fn quote_identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

pub(crate) fn run(psql: &Path, url: &ConnectionUrl, sql: &str) -> Result<String, Error> {
    let mut child = Command::new(psql)
        .args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d"])
        .arg(url.text_without_password())
        .env("PGPASSWORD", url.password())
        .env("PGOPTIONS", "-c client_min_messages=warning")
        .env("LC_ALL", "C")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(Error::io("start", psql))?;
    let mut input = child
        .stdin
        .take()
        .expect("the program was started with a pipe");
    // On a thread: rows may fill their pipe while statements are still being written. A program
    // that ended early closes its input; its own message says more than that error.
    let output = thread::scope(|scope| {
        scope.spawn(move || input.write_all(sql.as_bytes()));
        child.wait_with_output()
    });
    let output = output.map_err(Error::io("wait for", psql))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout)
            .trim_end_matches('\n')
            .to_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(Error::Failed {
        program: "psql".to_owned(),
        output: said,
    })
}
