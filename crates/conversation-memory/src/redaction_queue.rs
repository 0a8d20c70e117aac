//! Turns that wait for a scan: those nobody has looked through, and those an older detector did.

use async_trait::async_trait;
use throughline_domain::{TenantId, Timestamp, TurnId};

use crate::{MemoryError, Redaction, RedactionState, Turn};

/// A turn that is to be scanned, its texts as stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Due {
    /// The turn.
    pub turn: Turn,
    /// How often its scan has failed.
    pub failures: u32,
}

/// What a row looked like when it was read: a result is written only over that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The state.
    pub state: RedactionState,
    /// Who had looked.
    pub detector_version: Option<u32>,
    /// How often a scan had failed.
    pub failures: u32,
}

/// What is to be written beside a turn.
#[derive(Clone, Debug, PartialEq)]
pub struct Settlement {
    /// The turn.
    pub turn: TurnId,
    /// What it looked like.
    pub seen: Seen,
    /// What was found. The same as before, when the scan failed.
    pub redaction: Redaction,
    /// How often its scan has failed now.
    pub failures: u32,
}

/// How much waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Turns that nobody has looked through; counted up to a million.
    pub pending: u64,
    /// When the first of them was stored.
    pub oldest: Option<Timestamp>,
}

impl Due {
    /// What its row looks like.
    pub fn seen(&self) -> Seen {
        Seen {
            state: self.turn.redaction.state(),
            detector_version: self.turn.redaction.detector_version(),
            failures: self.failures,
        }
    }

    /// To be written over the row as it was read.
    pub fn settled(&self, redaction: Redaction) -> Settlement {
        Settlement {
            turn: self.turn.id,
            seen: self.seen(),
            redaction,
            failures: self.failures,
        }
    }
}

/// The store as the job `redaction` sees it. Nothing here decides what a scan finds or how often it is
/// tried; the texts of a turn never change.
#[async_trait]
pub trait RedactionQueue: Send + Sync {
    /// Tenants that have turns due for that version of the detector, in the order of their names,
    /// those after `after` only.
    async fn tenants_due(
        &self,
        detector_version: u32,
        after: Option<&TenantId>,
        limit: u32,
    ) -> Result<Vec<TenantId>, MemoryError>;

    /// Up to `rows` turns of the tenant that are pending, oldest first, and then those that an older
    /// version has looked at, but for the ones named in `except`. Turns that were stored masked are
    /// never due: what they were made of is nowhere. A tenant that is not there has none.
    async fn due(
        &self,
        tenant: &TenantId,
        detector_version: u32,
        rows: u32,
        except: &[TurnId],
    ) -> Result<Vec<Due>, MemoryError>;

    /// Up to `rows` turns of the tenant that default readers get with masks, whoever looked, in the
    /// order of their ids, those after `after` only: what a narrowing goes through.
    async fn redacted(
        &self,
        tenant: &TenantId,
        after: Option<TurnId>,
        rows: u32,
    ) -> Result<Vec<Due>, MemoryError>;

    /// Writes each result over a row that still looks as it was seen, and answers which were written.
    /// A row that somebody else has settled, holds at this moment or has deleted is left alone.
    async fn settle(
        &self,
        tenant: &TenantId,
        settlements: &[Settlement],
    ) -> Result<Vec<TurnId>, MemoryError>;

    /// How much waits in the whole store.
    async fn backlog(&self) -> Result<Backlog, MemoryError>;
}
