//! Which Postgres programs to use.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Error;

/// Where packages put the server programs: parent directory, start of the version directory's
/// name, way from there to the programs.
const USUAL_PLACES: &[(&str, &str, &str)] = &[
    ("/usr/lib/postgresql", "", "bin"),
    ("/usr", "pgsql-", "bin"),
    ("/usr/local", "pgsql", "bin"),
    ("/usr/libexec", "postgresql", ""),
    ("/usr/lib64", "postgresql-", "bin"),
    ("/opt/homebrew/opt", "postgresql", "bin"),
    ("/usr/local/opt", "postgresql", "bin"),
    ("/Applications/Postgres.app/Contents/Versions", "", "bin"),
];

/// A directory which holds `initdb` and `postgres` of one version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installation {
    bin: PathBuf,
    major: u32,
    version: String,
}

impl Installation {
    /// Finds the server programs: `CCM_TEST_PG_BIN`, else the newest of the usual install
    /// places, else `PATH` (links resolved, as a lone `initdb` may stand there).
    pub fn find() -> Result<Self, Error> {
        let explicit = env::var_os("CCM_TEST_PG_BIN").filter(|value| !value.is_empty());
        Self::find_among(
            explicit.map(PathBuf::from),
            &usual_places(),
            env::var_os("PATH").as_ref(),
        )
    }

    /// Uses the programs of this directory.
    pub fn in_directory(bin: &Path) -> Result<Self, Error> {
        Self::probe(bin).ok_or_else(|| Error::NotAnInstallation(bin.to_path_buf()))
    }

    fn find_among(
        explicit: Option<PathBuf>,
        usual: &[PathBuf],
        path: Option<&OsString>,
    ) -> Result<Self, Error> {
        if let Some(bin) = explicit {
            return Self::in_directory(&bin);
        }
        usual
            .iter()
            .filter_map(|bin| Self::probe(bin))
            .max_by_key(|found| found.major)
            .or_else(|| on_path(path?).iter().find_map(|bin| Self::probe(bin)))
            .ok_or(Error::NotInstalled)
    }

    fn probe(bin: &Path) -> Option<Self> {
        if !bin.join("initdb").is_file() {
            return None;
        }
        let output = Command::new(bin.join("postgres"))
            .arg("--version")
            .output()
            .ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        let version = text
            .trim()
            .strip_prefix("postgres (PostgreSQL) ")?
            .to_owned();
        let digits = version.split(|c: char| !c.is_ascii_digit()).next()?;
        Some(Self {
            bin: bin.to_path_buf(),
            major: digits.parse().ok()?,
            version,
        })
    }

    /// The directory of the programs.
    pub fn bin(&self) -> &Path {
        &self.bin
    }

    /// The major version, for example 15.
    pub fn major(&self) -> u32 {
        self.major
    }

    /// The version as the server words it, for example `15.18 (Debian 15.18-0+deb12u1)`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The path of a program of this installation, for example `pgbench`.
    pub fn tool(&self, name: &str) -> Result<PathBuf, Error> {
        let path = self.bin.join(name);
        if path.is_file() {
            return Ok(path);
        }
        Err(Error::MissingTool {
            tool: name.to_owned(),
            directory: self.bin.clone(),
        })
    }
}

/// A client program: of the installation if there is one, else on `PATH`. A machine that only
/// talks to a server elsewhere has `psql` and no server programs.
pub(crate) fn client(name: &str) -> Result<PathBuf, Error> {
    if let Ok(found) = Installation::find().and_then(|installation| installation.tool(name)) {
        return Ok(found);
    }
    program(name, &[]).ok_or_else(|| Error::MissingTool {
        tool: name.to_owned(),
        directory: PathBuf::from("PATH"),
    })
}

/// The first file of this name on `PATH` or in one of the further directories.
pub(crate) fn program(name: &str, further: &[&str]) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path)
        .chain(further.iter().map(PathBuf::from))
        .map(|directory| directory.join(name))
        .find(|file| file.is_file())
}

fn usual_places() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for (parent, prefix, suffix) in USUAL_PLACES {
        let Ok(entries) = fs::read_dir(parent) else {
            continue;
        };
        for entry in entries.flatten() {
            if entry.file_name().to_string_lossy().starts_with(prefix) {
                found.push(entry.path().join(suffix));
            }
        }
    }
    found
}

/// The directories which `PATH` leads to: where a linked `initdb` really stands, the directory
/// itself, and what `pg_config` names (distributions put a wrapper script on `PATH`).
fn on_path(path: &OsString) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for directory in env::split_paths(path) {
        if let Ok(real) = directory.join("initdb").canonicalize() {
            found.extend(real.parent().map(Path::to_path_buf));
            found.push(directory.clone());
        }
        if let Ok(output) = Command::new(directory.join("pg_config"))
            .arg("--bindir")
            .output()
        {
            found.push(PathBuf::from(
                String::from_utf8_lossy(&output.stdout).trim(),
            ));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lone_initdb_on_path_is_followed_to_its_server() {
        let installed = Installation::find().unwrap();
        let lone = env::temp_dir().join(format!("throughline-lone-initdb-{}", std::process::id()));
        fs::create_dir(&lone).unwrap();
        std::os::unix::fs::symlink(installed.bin().join("initdb"), lone.join("initdb")).unwrap();
        let found = Installation::find_among(None, &[], Some(&lone.clone().into()));
        fs::remove_dir_all(&lone).unwrap();
        assert_eq!(found.unwrap().version(), installed.version());
    }

    #[test]
    fn nothing_found_says_what_to_install() {
        let error = Installation::find_among(None, &[], Some(&"/nowhere".into())).unwrap_err();
        assert!(matches!(error, Error::NotInstalled));
        assert!(error.to_string().contains("apt-get install postgresql"));
    }

    #[test]
    fn a_wrong_explicit_directory_is_not_passed_over() {
        let installed = Installation::find().unwrap();
        let usual = [installed.bin().to_path_buf()];
        let error = Installation::find_among(Some("/nowhere".into()), &usual, None).unwrap_err();
        assert!(matches!(error, Error::NotAnInstallation(path) if path == Path::new("/nowhere")));
    }

    #[test]
    fn a_missing_program_is_named() {
        let error = Installation::find()
            .unwrap()
            .tool("pg_nothing")
            .unwrap_err();
        assert!(matches!(error, Error::MissingTool { tool, .. } if tool == "pg_nothing"));
    }
}
