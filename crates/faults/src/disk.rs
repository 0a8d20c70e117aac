//! A disk that is small enough to be filled.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// A file system of its own, in memory; it is unmounted when dropped.
pub(crate) struct SmallDisk {
    directory: TempDir,
}

impl SmallDisk {
    /// Mounts one of that size; the error says what is missing, usually the right to mount.
    pub(crate) fn mount(megabytes: u32) -> Result<Self, String> {
        let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
        let mounted = Command::new("mount")
            .args([
                "-t",
                "tmpfs",
                "-o",
                &format!("size={megabytes}m,mode=0755"),
                "tmpfs",
            ])
            .arg(directory.path())
            .output()
            .map_err(|error| format!("mount cannot be started: {error}"))?;
        if mounted.status.success() {
            return Ok(Self { directory });
        }
        let said = String::from_utf8_lossy(&mounted.stderr).trim().to_owned();
        Err(format!("a small disk needs the right to mount one: {said}"))
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Takes all the room there is.
    pub(crate) fn fill(&self) {
        use std::io::Write as _;
        let Ok(mut filler) = fs::File::create(self.filler()) else {
            return;
        };
        for piece in [vec![0_u8; 1 << 20], vec![0_u8; 1 << 12]] {
            while filler.write_all(&piece).is_ok() {}
        }
    }

    /// Gives the room back.
    pub(crate) fn free(&self) {
        // Not there means that nothing was filled.
        let _ = fs::remove_file(self.filler());
    }

    fn filler(&self) -> PathBuf {
        self.directory.path().join("filler")
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily: whoever still has a file open in it is about to end.
        let _ = Command::new("umount")
            .arg("-l")
            .arg(self.directory.path())
            .status();
    }
}
