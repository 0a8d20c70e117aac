//! A local durable queue for what cannot reach its store right now.
//!
//! The server keeps appends here while the database is away, the history adapter while the memory
//! service is. An entry is on disk when [`Spool::enqueue`] returns, survives `kill -9`, and leaves when
//! its store has it ([`Spool::ack`]), when an operator throws it away, or when its user is forgotten.
//!
//! - **One file, one process.** A redb database under the caller's directory (docs/adr/0020). One thread
//!   touches it; callers wait on a bounded channel. Entries that arrive close together share one sync.
//! - **Sealed.** Payload, idempotency key and order key are AES-256-GCM-SIV ciphertext; what must be
//!   compared is a keyed hash. In the clear stand the tenant's name, the user's id, times, sizes,
//!   attempts and error codes. The seal is bound to its place, and is the checksum too: a damaged entry
//!   is set aside and counted, and holds nothing up.
//! - **Bounded.** In bytes, in all and per tenant. Full is an answer ([`SpoolError::Full`]) or, by choice,
//!   the oldest make room and are counted ([`Overflow`]).
//! - **Fair and in order.** Tenants take turns; entries with the same order key keep their order; what
//!   fails waits with growing pauses, what is hopeless is set aside at first sight.
//!
//! ```no_run
//! # async fn run(clock: std::sync::Arc<dyn throughline_domain::Clock>, ids: std::sync::Arc<dyn throughline_domain::Ids>) -> Result<(), Box<dyn std::error::Error>> {
//! use throughline_domain::TenantId;
//! use throughline_spool::{NewEntry, Spool, SpoolConfig, SpoolKey, Verdict};
//!
//! let key = SpoolKey::from_env("CCM_SPOOL_KEY")?;
//! let spool = Spool::open("spool".as_ref(), SpoolConfig::default(), &key, clock, ids).await?;
//! spool.enqueue(NewEntry {
//!     tenant: TenantId::parse("acme")?,
//!     user: None,
//!     key: "telegram:42:7".to_owned(),
//!     order: Some("telegram:42".to_owned()),
//!     digest: None,
//!     payload: b"{}".to_vec(),
//! }).await?;
//! let drained = spool.drain(100, |entry| async move {
//!     // Store entry.payload under entry.key, idempotently.
//! #   let _ = entry;
//!     Verdict::Stored
//! }).await?;
//! assert_eq!(drained.stored, 1);
//! spool.close().await?;
//! # Ok(()) }
//! ```
//!
//! Does not belong here: what a payload means, HTTP, stores, when to drain (a job decides), metrics'
//! names (a caller reads [`Spool::stats`]). Residual: a removed entry's ciphertext can stay in free pages
//! of the file until they are written over or [`Spool::compact`] returns them.

mod backoff;
mod config;
mod content;
#[cfg(test)]
mod crash_tests;
mod directory;
mod drain;
mod engine;
mod entry;
mod error;
mod head;
mod index;
mod key;
mod seal;
mod spool;
mod stats;
mod tables;
mod worker;

pub use config::{Overflow, SpoolConfig};
pub use drain::{Drained, Verdict};
pub use engine::{Expiry, Removed};
pub use entry::{
    ENTRY_OVERHEAD, Entry, EntryId, Lane, NewEntry, Queued, REASON_ATTEMPTS, REASON_CORRUPT,
    Retried, SetAside,
};
pub use error::{Limit, OpenError, SpoolError, StorageFault};
pub use key::{KeyError, SpoolKey};
pub use spool::Spool;
pub use stats::{Amount, Stats};
