//! As whom the server runs: Postgres refuses to run as root.

use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use crate::Error;

/// The user which owns the scratch directory and runs the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Account {
    /// Whoever runs us.
    Ours,
    /// Root gives its rights up for this user and group.
    Other { uid: u32, gid: u32 },
}

impl Account {
    pub(crate) fn for_servers() -> Result<Self, Error> {
        if !rustix::process::geteuid().is_root() {
            return Ok(Self::Ours);
        }
        ["postgres", "nobody"]
            .iter()
            .find_map(|name| lookup(name))
            .ok_or(Error::NoAccount)
    }

    /// Makes the command run as this user, without any of root's groups.
    pub(crate) fn apply(self, command: &mut Command) {
        if let Self::Other { uid, gid } = self {
            command.uid(uid).gid(gid);
        }
    }

    pub(crate) fn own(self, path: &Path) -> Result<(), Error> {
        match self {
            Self::Ours => Ok(()),
            Self::Other { uid, gid } => std::os::unix::fs::chown(path, Some(uid), Some(gid))
                .map_err(Error::io("change the owner of", path)),
        }
    }
}

/// Asks `id` instead of reading `/etc/passwd`, which directory services and macOS bypass.
fn lookup(name: &str) -> Option<Account> {
    let ask = |flag: &str| {
        let output = Command::new("id").args([flag, name]).output().ok()?;
        String::from_utf8(output.stdout)
            .ok()?
            .trim()
            .parse::<u32>()
            .ok()
    };
    Some(Account::Other {
        uid: ask("-u")?,
        gid: ask("-g")?,
    })
}
