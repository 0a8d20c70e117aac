//! What can go wrong, phrased for the caller.

use std::path::PathBuf;
use std::sync::Arc;

use crate::EntryId;

/// Why a spool could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process, or another handle of this one, holds the file.
    #[error("the spool {} is in use by another process; give each process its own directory", .0.display())]
    InUse(PathBuf),
    /// The entries were sealed with another key.
    #[error(
        "the spool was sealed with key {sealed_with}, not with {given}; give it its own key, or drain it first"
    )]
    WrongKey {
        /// Id of the key the file was made with.
        sealed_with: String,
        /// Id of the key handed in.
        given: String,
    },
    /// A newer release wrote the file.
    #[error(
        "the spool has format {0}, which this release does not know; use the release that wrote it"
    )]
    UnknownFormat(u8),
    /// The file is torn or overwritten. Nothing was changed in it.
    #[error("the spool {} is damaged; keep a copy and move it away to begin with an empty one", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What the file format found.
        #[source]
        source: StorageFault,
    },
    /// A configured limit makes no sense.
    #[error("{0}")]
    InvalidConfig(&'static str),
    /// The directory or the file cannot be used.
    #[error("the spool {} cannot be opened", path.display())]
    Storage {
        /// The directory or file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: StorageFault,
    },
}

/// Why a call on an open spool was not done.
#[derive(Debug, Clone, thiserror::Error)]
pub enum SpoolError {
    /// There is no room for the entry.
    #[error("the spool is full: {used} of {limit} bytes of {whose} are in use")]
    Full {
        /// Whose limit it is.
        whose: Limit,
        /// Bytes in use.
        used: u64,
        /// Bytes allowed.
        limit: u64,
    },
    /// The entry would not fit an empty spool.
    #[error("an entry of {bytes} bytes is larger than the spool takes ({limit})")]
    TooLarge {
        /// What it would take.
        bytes: u64,
        /// What may be taken.
        limit: u64,
    },
    /// The key stands for another entry already.
    #[error("the idempotency key is in use for another entry; use a new key for new content")]
    KeyConflict(EntryId),
    /// The spool was closed.
    #[error("the spool is closed")]
    Closed,
    /// The file could not be written or read. Whether the call took effect is unknown: repeat it,
    /// with the same key. The spool opens its file anew before the next call.
    #[error("the spool's file failed")]
    Storage(#[source] StorageFault),
}

/// Whose bytes a limit counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// All tenants' together.
    Everybody,
    /// One tenant's.
    Tenant,
}

impl std::fmt::Display for Limit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Everybody => "all tenants",
            Self::Tenant => "the tenant",
        })
    }
}

/// What the file or the system said. Cheap to clone: every caller of a failed group gets it.
#[derive(Debug, Clone, thiserror::Error)]
#[error(transparent)]
pub struct StorageFault(Arc<dyn std::error::Error + Send + Sync>);

impl StorageFault {
    pub(crate) fn new(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self(Arc::from(error.into()))
    }
}

macro_rules! storage_errors {
    ($($error:ty),+) => {$(
        impl From<$error> for SpoolError {
            fn from(error: $error) -> Self {
                Self::Storage(StorageFault::new(error))
            }
        }
    )+};
}

storage_errors!(
    redb::StorageError,
    redb::TableError,
    redb::TransactionError,
    redb::CommitError,
    redb::CompactionError,
    redb::DatabaseError
);
