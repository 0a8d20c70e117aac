//! A directory, and what runs in it, that cannot outlive their owner.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::Error;
use crate::account::Account;

const REAPER: &str = include_str!("reaper.sh");

/// A private directory with a reaper: a process of its own which notices the end of this one by
/// a closed pipe, ends the recorded process and removes the directory.
pub(crate) struct ScratchDir {
    path: PathBuf,
    account: Account,
    reaper: Reaper,
}

impl ScratchDir {
    pub(crate) fn create(kind: &str, account: Account) -> Result<Self, Error> {
        Self::create_for_run(kind, account, None, None)
    }

    /// `run` is what [`ScratchDir::hand_over`] can leave the directory to; `below` is where it is made
    /// in place of the directory for temporary files.
    pub(crate) fn create_for_run(
        kind: &str,
        account: Account,
        run: Option<(&Path, u32)>,
        below: Option<&Path>,
    ) -> Result<Self, Error> {
        let parent = match below {
            Some(parent) => parent.canonicalize().map_err(Error::io("find", parent))?,
            None => temp_dir()?,
        };
        let path = parent.join(format!("throughline-{kind}-{}", random_hex(8)?));
        // The reaper is there before what it has to remove.
        let reaper = Reaper::start(Some(&path), run, &[])?;
        DirBuilder::new()
            .mode(0o700)
            .create(&path)
            .map_err(Error::io("create", &path))?;
        account.own(&path)?;
        Ok(Self {
            path,
            account,
            reaper,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a file which only the server's user can read.
    pub(crate) fn write(&self, name: &str, text: &str) -> Result<PathBuf, Error> {
        let path = self.path.join(name);
        write_private(&path, text)?;
        self.account.own(&path)?;
        Ok(path)
    }

    pub(crate) fn log_path(&self) -> PathBuf {
        self.path.join("log")
    }

    /// The last lines of what the processes in here said.
    pub(crate) fn log_tail(&self) -> String {
        log_tail(&self.log_path())
    }

    /// Starts a program in here as the server's user, out of reach of the terminal's Ctrl-C.
    /// A shell writes its own id down and then becomes the program, so there is no moment in
    /// which the program runs and the reaper does not know it.
    pub(crate) fn spawn(
        &self,
        polite: &str,
        program: &Path,
        args: &[&str],
    ) -> Result<Child, Error> {
        let log_path = self.log_path();
        let log = OpenOptions::new().create(true).append(true).open(&log_path);
        let log = log.map_err(Error::io("open", &log_path))?;
        let again = log.try_clone().map_err(Error::io("open", &log_path))?;
        let mut command = Command::new("/bin/sh");
        command
            .args([
                "-c",
                "echo \"$$ $1\" >process && shift && exec \"$@\"",
                "sh",
                polite,
            ])
            .arg(program)
            .args(args)
            .current_dir(&self.path)
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(again)
            .process_group(0);
        self.account.apply(&mut command);
        command.spawn().map_err(Error::io("start", program))
    }

    /// Nothing runs any more: its process id may now become somebody else's.
    pub(crate) fn forget_process(&self) {
        let _ = fs::remove_file(self.path.join("process"));
    }

    /// From now on the directory lives until nobody has held the run's lock for a while.
    pub(crate) fn hand_over(mut self) -> Result<(), Error> {
        self.reaper.hand_over()
    }
}

impl Drop for ScratchDir {
    fn drop(&mut self) {
        if self.reaper.finish() {
            // Nothing is left to do unless somebody killed the reaper.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

/// The process that cleans up after us.
pub(crate) struct Reaper {
    child: Child,
    owned: bool,
}

impl Reaper {
    pub(crate) fn start(
        directory: Option<&Path>,
        run: Option<(&Path, u32)>,
        environment: &[(&str, &str)],
    ) -> Result<Self, Error> {
        let nothing = Path::new("");
        let (run, grace) = run.unwrap_or((nothing, 0));
        let child = Command::new("/bin/sh")
            .args(["-c", REAPER, "throughline-reaper"])
            .args([directory.unwrap_or(nothing), run])
            .arg(grace.to_string())
            .envs(environment.iter().copied())
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .map_err(Error::io("start", "/bin/sh"))?;
        Ok(Self { child, owned: true })
    }

    pub(crate) fn hand_over(&mut self) -> Result<(), Error> {
        let pipe = self
            .child
            .stdin
            .as_mut()
            .expect("the reaper was started with a pipe");
        pipe.write_all(b"shared\n")
            .map_err(Error::io("write to", "the reaper"))?;
        self.owned = false;
        Ok(())
    }

    /// Lets it do its work now and waits for the end; false when it works for the run.
    fn finish(&mut self) -> bool {
        drop(self.child.stdin.take());
        if self.owned {
            let _ = self.child.wait();
        }
        self.owned
    }
}

impl Drop for Reaper {
    fn drop(&mut self) {
        self.finish();
    }
}

/// The directory for temporary files without links in it, as processes report theirs that way.
pub(crate) fn temp_dir() -> Result<PathBuf, Error> {
    let path = std::env::temp_dir();
    path.canonicalize().map_err(Error::io("find", &path))
}

/// Creates or empties a file of mode 0600 and fills it.
pub(crate) fn write_private(path: &Path, text: &str) -> Result<(), Error> {
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(Error::io("write", path))
}

/// Random bytes of the kernel, in hexadecimal; good enough for a password.
pub(crate) fn random_hex(bytes: usize) -> Result<String, Error> {
    const SOURCE: &str = "/dev/urandom";
    let mut buffer = vec![0; bytes];
    let mut source = File::open(SOURCE).map_err(Error::io("open", SOURCE))?;
    source
        .read_exact(&mut buffer)
        .map_err(Error::io("read", SOURCE))?;
    Ok(buffer
        .iter()
        .fold(String::new(), |text, byte| format!("{text}{byte:02x}")))
}

pub(crate) fn log_tail(path: &Path) -> String {
    const LINES: usize = 40;
    let text = fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<_> = text.lines().collect();
    lines[lines.len().saturating_sub(LINES)..].join("\n")
}
