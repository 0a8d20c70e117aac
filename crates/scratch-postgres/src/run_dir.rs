//! What the processes of one test run share: a private directory with locks.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::{env, io};

use crate::Error;
use crate::scratch_dir::temp_dir;

/// Held by every client for its lifetime; the kernel lets go of it even after SIGKILL.
/// The reaper takes it exclusively to find out that nobody is left.
const CLIENTS: &str = "clients.lock";

/// The directory of a run, with our share of the clients' lock.
pub(crate) struct RunDir {
    path: PathBuf,
    /// Distinguishes this run's databases on a server that other runs use too.
    pub(crate) id: String,
    clients: File,
}

impl RunDir {
    /// Enters the run, which the first process creates; waits while an earlier one of the same
    /// name is being removed.
    pub(crate) fn enter(name: &str) -> Result<Self, Error> {
        let uid = rustix::process::geteuid().as_raw();
        let id = fingerprint(&format!("{uid} {} {name}", run_key()));
        Self::enter_at(temp_dir()?.join(format!("throughline-run-{id}")), id)
    }

    /// For a run of one process: inside its server's directory, with which it is removed.
    pub(crate) fn inside(directory: &Path) -> Result<Self, Error> {
        let id = fingerprint(&directory.to_string_lossy());
        Self::enter_at(directory.join("run"), id)
    }

    fn enter_at(path: PathBuf, id: String) -> Result<Self, Error> {
        let uid = rustix::process::geteuid().as_raw();
        loop {
            create_private(&path, uid)?;
            let lock = path.join(CLIENTS);
            let clients = match open_lock(&lock) {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(Error::io("open", &lock)(error)),
            };
            clients.lock_shared().map_err(Error::io("lock", &lock))?;
            if is_still_at(&clients, &lock) {
                return Ok(Self { path, id, clients });
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Waits until no other process and no other thread holds this lock.
    pub(crate) fn lock(&self, name: &str) -> Result<File, Error> {
        let path = self.file(&format!("{name}.lock"));
        let file = open_lock(&path).map_err(Error::io("open", &path))?;
        file.lock().map_err(Error::io("lock", &path))?;
        Ok(file)
    }

    /// Leaves and removes the directory if nobody else is in it: for a server that did not start,
    /// as there is no reaper to do it.
    pub(crate) fn abandon(self) {
        let _ = self.clients.unlock();
        if self.clients.try_lock().is_ok() && is_still_at(&self.clients, &self.file(CLIENTS)) {
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

/// Nextest gives every test its own process and the run an id; with `cargo test` the test
/// programs have the same parent.
fn run_key() -> String {
    env::var("NEXTEST_RUN_ID")
        .unwrap_or_else(|_| format!("parent {}", std::os::unix::process::parent_id()))
}

/// FNV-1a: short, and the same in every program of the run whatever compiled it.
pub(crate) fn fingerprint(text: &str) -> String {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}

/// The name can be guessed, so what stands there already must be ours and closed to others.
fn create_private(path: &Path, uid: u32) -> Result<(), Error> {
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            return Err(Error::io("create", path)(error));
        }
        _ => {}
    }
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() && found.uid() == uid && found.mode() & 0o777 == 0o700 => {
            Ok(())
        }
        // Removed between the two looks: opening the lock will notice.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        _ => Err(Error::ForeignDirectory(path.to_path_buf())),
    }
}

fn open_lock(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path)
}

/// A lock on a removed file excludes nobody.
fn is_still_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::metadata(path)) {
        (Ok(held), Ok(named)) => held.ino() == named.ino() && held.dev() == named.dev(),
        _ => false,
    }
}
