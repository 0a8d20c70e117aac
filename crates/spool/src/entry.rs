//! What goes into a spool and what comes out.

use std::fmt;

use throughline_domain::{TenantId, Timestamp, UserId};

/// What an entry is charged besides its texts and payload: its head, its index rows, their keys.
pub const ENTRY_OVERHEAD: u64 = 512;

/// An entry's name in this spool. Never used twice; later entries have larger ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryId(pub(crate) u64);

impl EntryId {
    /// The id as a number, to be shown and read back.
    pub fn as_u64(self) -> u64 {
        self.0
    }

    /// The id a number stands for.
    pub fn from_u64(id: u64) -> Self {
        Self(id)
    }
}

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What waits behind each other: entries of one tenant with the same order key are in one lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lane(pub(crate) u64);

/// Something to keep until its store answers.
#[derive(Clone)]
pub struct NewEntry {
    /// Whose it is.
    pub tenant: TenantId,
    /// The user it is about, if known: [`Spool::forget_user`](crate::Spool::forget_user) finds it by this.
    pub user: Option<UserId>,
    /// The same key in the same tenant is the same entry while it is here.
    pub key: String,
    /// Entries of a tenant with the same order key are handed out in the order they came.
    pub order: Option<String>,
    /// What makes two entries with the same key equal. None: the payload, byte for byte.
    pub digest: Option<[u8; 32]>,
    /// The content. The spool does not look into it.
    pub payload: Vec<u8>,
}

impl NewEntry {
    pub(crate) fn charge(&self) -> u64 {
        let order = self.order.as_ref().map_or(0, String::len);
        (self.payload.len() + self.key.len() + order) as u64 + ENTRY_OVERHEAD
    }
}

/// Payload, key and order key can be personal data, so they are not printed.
impl fmt::Debug for NewEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewEntry")
            .field("tenant", &self.tenant)
            .field("user", &self.user)
            .field("payload_bytes", &self.payload.len())
            .finish_non_exhaustive()
    }
}

/// What became of an entry that was handed in. Each of them is on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Queued {
    /// It is new.
    New(EntryId),
    /// It was here already and waits to be drained.
    Again(EntryId),
    /// It was here already and has been set aside: it goes nowhere before it is requeued.
    SetAside(EntryId),
}

impl Queued {
    /// The entry's id, however it came here.
    pub fn id(self) -> EntryId {
        match self {
            Self::New(id) | Self::Again(id) | Self::SetAside(id) => id,
        }
    }
}

/// An entry taken from the spool.
#[derive(Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its name here.
    pub id: EntryId,
    /// Whose it is.
    pub tenant: TenantId,
    /// The user it is about, if it was known.
    pub user: Option<UserId>,
    /// What it waits in line with.
    pub lane: Lane,
    /// Its idempotency key.
    pub key: String,
    /// Its order key.
    pub order: Option<String>,
    /// When it came.
    pub enqueued_at: Timestamp,
    /// How often it was tried and failed.
    pub attempts: u32,
    /// Its content.
    pub payload: Vec<u8>,
}

/// Payload, key and order key can be personal data, so they are not printed.
impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry")
            .field("id", &self.id)
            .field("tenant", &self.tenant)
            .field("attempts", &self.attempts)
            .field("payload_bytes", &self.payload.len())
            .finish_non_exhaustive()
    }
}

/// What became of an entry whose attempt failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retried {
    /// It is tried again, not before this moment.
    At(Timestamp),
    /// It failed too often and was set aside.
    SetAside,
    /// It is not in line any more: it was acknowledged, set aside, discarded or forgotten.
    Gone,
}

/// An entry that was set aside, without its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetAside {
    /// Its name here.
    pub id: EntryId,
    /// Whose it is.
    pub tenant: TenantId,
    /// The user it is about, if it was known.
    pub user: Option<UserId>,
    /// When it came.
    pub enqueued_at: Timestamp,
    /// When it was set aside.
    pub set_aside_at: Timestamp,
    /// How often it was tried and failed.
    pub attempts: u32,
    /// The code of the last failed attempt, empty if there was none.
    pub last_error: String,
    /// Why it was set aside: [`REASON_ATTEMPTS`], [`REASON_CORRUPT`] or the drain's own words.
    pub reason: String,
    /// What it is charged.
    pub bytes: u64,
}

/// Set aside because it failed too often.
pub const REASON_ATTEMPTS: &str = "attempts_exhausted";
/// Set aside because its seal is broken: the bytes are not those that were written.
pub const REASON_CORRUPT: &str = "corrupt";
