//! Bodies of the outbox: an append that was queued, and what an operator sees of those that wait.

use serde::{Deserialize, Serialize};
use throughline_conversation_memory::{ClientMessageId, OutboxEntry};
use throughline_domain::{OutboxId, Timestamp, UserId};
use utoipa::ToSchema;

use crate::KeySource;

/// An append that is queued, durably, and will be stored without another call: 202.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct QueuedAnswer {
    /// The key it will be stored under.
    pub client_message_id: String,
    /// Always true.
    pub queued: bool,
    /// `false` when the caller gave no key: a retry would store the turn again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_safe: Option<bool>,
    /// The tenant's erasure epoch: drop what is cached when it jumps. Absent when it could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erasure_epoch: Option<u64>,
}

impl QueuedAnswer {
    /// With the tenant's epoch beside it; in a batch it stands beside all results.
    #[must_use]
    pub fn at_epoch(self, erasure_epoch: Option<u64>) -> Self {
        Self {
            erasure_epoch,
            ..self
        }
    }

    /// The answer for that key.
    pub fn new(key: &ClientMessageId, source: KeySource) -> Self {
        Self {
            client_message_id: key.as_str().to_owned(),
            queued: true,
            retry_safe: (source == KeySource::Minted).then_some(false),
            erasure_epoch: None,
        }
    }
}

/// An entry of the outbox, without what was said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OutboxEntryAnswer {
    /// Its id.
    #[schema(value_type = String)]
    pub id: OutboxId,
    /// The turn's key.
    pub client_message_id: String,
    /// Whose it is, when they were resolved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub user_id: Option<UserId>,
    /// `pending` or `dlq`.
    pub state: String,
    /// Failed attempts.
    pub attempts: u32,
    /// The code of the last failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    /// When it came.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When it was tried last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub last_attempt_at: Option<Timestamp>,
    /// When it is tried again; absent for a dead letter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub next_attempt_at: Option<Timestamp>,
    /// When it died.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub died_at: Option<Timestamp>,
}

impl From<OutboxEntry> for OutboxEntryAnswer {
    fn from(entry: OutboxEntry) -> Self {
        Self {
            id: entry.id,
            client_message_id: entry.key.as_str().to_owned(),
            user_id: entry.user,
            state: entry.state.as_str().to_owned(),
            attempts: entry.attempts,
            last_error: entry.last_error,
            created_at: entry.created_at,
            last_attempt_at: entry.last_attempt_at,
            next_attempt_at: entry.died_at.is_none().then_some(entry.next_attempt_at),
            died_at: entry.died_at,
        }
    }
}

/// `GET /admin/tenants/{tenant}/outbox`, in the order they came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OutboxAnswer {
    /// One page.
    pub entries: Vec<OutboxEntryAnswer>,
    /// Send it as `cursor` for the next page; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// What a sweep over everything that waits did: `queue` of a run of the job `outbox`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OutboxRunAnswer {
    /// Turns it stored.
    pub stored: u64,
    /// Turns that were there already.
    pub duplicates: u64,
    /// Appends of deleted turns or people, thrown away.
    pub dropped: u64,
    /// Appends that wait for another attempt.
    pub waiting: u64,
    /// Appends that became dead letters.
    pub dead: u64,
    /// Old dead letters that were deleted.
    pub expired: u64,
    /// Whether it ended because the store is away.
    pub away: bool,
    /// Whether it left work to the next one.
    pub unfinished: bool,
}
