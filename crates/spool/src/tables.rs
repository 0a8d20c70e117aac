//! The file's tables.

use redb::TableDefinition;

/// Heads of entries that wait, by sequence.
pub(crate) const PENDING: TableDefinition<u64, &[u8]> = TableDefinition::new("pending");
/// Heads of entries that were set aside, by sequence.
pub(crate) const ASIDE: TableDefinition<u64, &[u8]> = TableDefinition::new("aside");
/// Heads that cannot be read any more, by sequence.
pub(crate) const UNREADABLE: TableDefinition<u64, &[u8]> = TableDefinition::new("unreadable");
/// Sealed contents of all of them, by sequence.
pub(crate) const CONTENTS: TableDefinition<u64, &[u8]> = TableDefinition::new("contents");
/// Tenant and keyed hash of the idempotency key → sequence. A row whose entry is gone means nothing.
pub(crate) const KEYS: TableDefinition<(&str, &[u8; 32]), u64> = TableDefinition::new("keys");
/// The next sequence and the lasting counters.
pub(crate) const NUMBERS: TableDefinition<&str, u64> = TableDefinition::new("numbers");
/// Format and key id.
pub(crate) const LABELS: TableDefinition<&str, &str> = TableDefinition::new("labels");

pub(crate) const NEXT_SEQ: &str = "next_seq";
pub(crate) const DROPPED: &str = "dropped";
pub(crate) const CORRUPT: &str = "corrupt";
pub(crate) const FORMAT_LABEL: &str = "format";
pub(crate) const KEY_LABEL: &str = "key";
