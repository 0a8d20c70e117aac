//! What is left when the owner is killed: nothing.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::holder::{Holder, is_lived_in, within};

const SOON: Duration = Duration::from_secs(10);

#[test]
fn a_killed_owner_leaves_neither_server_nor_directory() {
    let mut holder = Holder::start("server", &[]);
    let (pid, directory) = holder.holds();
    let directory = PathBuf::from(directory);
    assert!(directory.exists() && is_lived_in(&directory));
    holder.kill();
    let process = PathBuf::from(format!("/proc/{pid}/cwd"));
    let took = within(SOON, "server and directory are gone", || {
        !directory.exists() && fs::read_link(&process).is_err() && !is_lived_in(&directory)
    });
    println!("all gone {took:?} after the kill");
}

/// The directory for temporary files of a holder, so that its beginning can be watched.
struct Corner(PathBuf);

impl Corner {
    fn create(name: &str) -> Self {
        let name = format!("throughline-corner-{}-{name}", std::process::id());
        let path = std::env::temp_dir().canonicalize().unwrap().join(name);
        DirBuilder::new().mode(0o755).create(&path).unwrap();
        Self(path)
    }

    fn entries(&self) -> Vec<PathBuf> {
        fs::read_dir(&self.0)
            .unwrap()
            .flatten()
            .map(|entry| entry.path())
            .collect()
    }
}

impl Drop for Corner {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

#[test]
fn an_owner_killed_at_any_point_of_the_start_leaves_nothing() {
    let points = ["", "process", "data", "data/base/1", "data/postmaster.pid"];
    for (number, point) in points.into_iter().enumerate() {
        for role in ["server", "shared"] {
            let corner = Corner::create(&format!("{number}-{role}"));
            let run = format!("{}-{number}", std::process::id());
            let temp = corner.0.to_string_lossy().into_owned();
            let holder = Holder::start(role, &[("TMPDIR", &temp), ("NEXTEST_RUN_ID", &run)]);
            within(SOON, "the start is at the point", || {
                corner
                    .entries()
                    .iter()
                    .any(|path| is_server(path) && path.join(point).exists())
            });
            holder.kill();
            within(SOON * 2, "nothing is left", || {
                corner.entries().is_empty() && !is_lived_in(&corner.0)
            });
        }
    }
}

fn is_server(path: &Path) -> bool {
    path.file_name()
        .unwrap()
        .to_string_lossy()
        .starts_with("throughline-postgres-")
}
