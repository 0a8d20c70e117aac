//! The binary, run to its end.

use std::path::PathBuf;
use std::process::{Command, Output};

/// The built `throughline`: beside this program, or, as tests are built into `deps/`, one above.
pub(crate) fn path() -> PathBuf {
    built("throughline", "cargo build --bins")
}

/// A built example of the workspace.
pub fn example(name: &str) -> PathBuf {
    built(&format!("examples/{name}"), "cargo build --examples")
}

fn built(name: &str, how: &str) -> PathBuf {
    let me = std::env::current_exe().expect("a program has a path");
    let mut beside = me.parent().expect("a program lies in a directory");
    if beside.ends_with("deps") {
        beside = beside.parent().expect("tests are built into deps/");
    }
    let binary = beside.join(name);
    assert!(
        binary.exists(),
        "{} is not built; run ./test, or {how} first",
        binary.display()
    );
    binary
}

/// A command of the binary with nothing inherited from the caller's configuration.
pub fn throughline_command(arguments: &[&str]) -> Command {
    let mut command = Command::new(path());
    command.args(arguments);
    for (name, _) in std::env::vars() {
        if name.starts_with("CCM_") || name.starts_with("PI_") {
            command.env_remove(name);
        }
    }
    command
}

/// What a finished run said.
#[derive(Debug)]
pub struct Finished {
    /// The exit code; `None` after a signal.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl From<Output> for Finished {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Finished {
    /// Itself, when the run ended well.
    #[expect(
        clippy::return_self_not_must_use,
        reason = "often the check is all that is wanted"
    )]
    pub fn succeeded(self) -> Self {
        assert_eq!(self.code, Some(0), "{self:#?}");
        self
    }
}

/// Runs the binary with these arguments and these environment variables until it ends.
pub fn throughline(arguments: &[&str], environment: &[(&str, &str)]) -> Finished {
    let mut command = throughline_command(arguments);
    command.envs(environment.iter().copied());
    command.output().expect("the binary can be started").into()
}
