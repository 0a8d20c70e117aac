//! The directory and the file, for their owner's eyes only.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

const FILE: &str = "spool.redb";

pub(crate) fn file_in(directory: &Path) -> PathBuf {
    directory.join(FILE)
}

/// Makes the directory and an empty file if they are not there.
pub(crate) fn prepare(file: &Path) -> io::Result<()> {
    let mut directory = DirBuilder::new();
    directory.recursive(true);
    let mut create = OpenOptions::new();
    create.write(true).create(true).truncate(false);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
        directory.mode(0o700);
        create.mode(0o600);
    }
    let parent = file.parent().unwrap_or(Path::new("."));
    directory.create(parent)?;
    create.open(file)?;
    // The file's name must survive a power cut as its content does.
    #[cfg(unix)]
    std::fs::File::open(parent)?.sync_all()?;
    Ok(())
}
