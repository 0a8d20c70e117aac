//! The database's own programs: `psql` for looking, `pgbench` as the other side.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use throughline_scratch_postgres::Installation;
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

use crate::fault::BenchError;
use crate::samples::Samples;

/// The programs, pointed at one database.
pub(crate) struct Programs {
    installation: Installation,
    /// In the environment, where other users of the machine cannot read the password.
    environment: HashMap<&'static str, String>,
    directory: PathBuf,
}

impl Programs {
    pub(crate) fn at(url: &str) -> Result<Self, BenchError> {
        let directory =
            std::env::temp_dir().join(format!("throughline-bench-{}", std::process::id()));
        fs::create_dir_all(&directory)?;
        Ok(Self {
            installation: Installation::find()?,
            environment: environment(url)
                .ok_or_else(|| BenchError::stage("the database's address cannot be read"))?,
            directory,
        })
    }

    /// libpq's variables: which database, and as whom.
    pub(crate) fn environment(&self) -> &HashMap<&'static str, String> {
        &self.environment
    }

    /// Runs statements, and returns the rows without any decoration.
    pub(crate) async fn psql(&self, sql: &str) -> Result<String, BenchError> {
        let mut command = Command::new(self.installation.tool("psql")?);
        command.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-f", "-"]);
        let mut child = command
            .envs(&self.environment)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        if let Some(mut input) = child.stdin.take() {
            input.write_all(sql.as_bytes()).await?;
        }
        let output = child.wait_with_output().await?;
        said("psql", output.status.success(), &output.stderr)?;
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    /// Runs a script with that many clients for that long; `base` tells the keys of one run from
    /// those of the others.
    pub(crate) async fn pgbench(
        &self,
        script: &str,
        clients: usize,
        time: Duration,
        base: usize,
    ) -> Result<Samples, BenchError> {
        let file = self.directory.join("script.sql");
        fs::write(&file, script)?;
        let log = self.directory.join("log");
        let threads = clients.min(2).to_string();
        let seconds = time.as_secs().max(1);
        let mut command = Command::new(self.installation.tool("pgbench")?);
        command
            .args([
                "-n",
                "-M",
                "prepared",
                "-c",
                &clients.to_string(),
                "-j",
                &threads,
            ])
            .args([
                "-T",
                &seconds.to_string(),
                "-D",
                "n=0",
                "-D",
                &format!("base={base}"),
            ])
            .arg("-l")
            .arg(format!("--log-prefix={}", log.display()))
            .arg("-f")
            .arg(&file)
            .envs(&self.environment)
            .stdin(Stdio::null());
        let output = command.output().await?;
        said("pgbench", output.status.success(), &output.stderr)?;
        let samples = Samples::new(latencies(&self.directory)?, Duration::from_secs(seconds));
        if samples.count() == 0 {
            said("pgbench", false, &output.stdout)?;
        }
        Ok(samples)
    }
}

impl Drop for Programs {
    fn drop(&mut self) {
        // Only scripts and logs; the system clears its temporary files too.
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// The logs' third column, in microseconds; the logs are taken away.
fn latencies(directory: &Path) -> Result<Vec<u32>, BenchError> {
    let mut micros = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if name.starts_with("log.") {
            let text = fs::read_to_string(&path)?;
            let column = |line: &str| line.split(' ').nth(2)?.parse::<u32>().ok();
            micros.extend(text.lines().filter_map(column));
            fs::remove_file(path)?;
        }
    }
    Ok(micros)
}

/// The end of what a program wrote, when it did not end well.
pub(crate) fn said(program: &'static str, well: bool, stderr: &[u8]) -> Result<(), BenchError> {
    if well {
        return Ok(());
    }
    let text = String::from_utf8_lossy(stderr);
    let lines: Vec<&str> = text.trim().lines().rev().take(3).collect();
    let said = lines.into_iter().rev().collect::<Vec<_>>().join(" / ");
    Err(BenchError::Program { program, said })
}

/// `postgres://user:password@host:port/database?…` as libpq's variables.
fn environment(url: &str) -> Option<HashMap<&'static str, String>> {
    let (_, rest) = url.split_once("://")?;
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, database) = rest.split_once('/')?;
    let (credentials, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    let (user, password) = credentials.split_once(':').unwrap_or((credentials, ""));
    let (host, port) = host.rsplit_once(':').unwrap_or((host, "5432"));
    let mut variables = HashMap::from([
        ("PGHOST", host.to_owned()),
        ("PGPORT", port.to_owned()),
        ("PGDATABASE", database.to_owned()),
    ]);
    for (name, value) in [("PGUSER", user), ("PGPASSWORD", password)] {
        if !value.is_empty() {
            variables.insert(name, value.to_owned());
        }
    }
    let mode = query
        .split('&')
        .find_map(|pair| pair.strip_prefix("sslmode="));
    if let Some(mode) = mode {
        variables.insert("PGSSLMODE", mode.to_owned());
    }
    Some(variables)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_becomes_variables() {
        let found = environment("postgres://u:p@h:6000/d?sslmode=require").unwrap();
        for (name, value) in [
            ("PGUSER", "u"),
            ("PGPASSWORD", "p"),
            ("PGHOST", "h"),
            ("PGPORT", "6000"),
            ("PGDATABASE", "d"),
            ("PGSSLMODE", "require"),
        ] {
            assert_eq!(found.get(name).map(String::as_str), Some(value), "{name}");
        }
        assert_eq!(environment("nonsense"), None);
    }
}
