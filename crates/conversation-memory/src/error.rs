//! What can go wrong, phrased for the caller.

use std::error::Error;
use std::fmt;

use throughline_domain::{JsonFault, TenantId, TextFault, TurnId};

use crate::ClientMessageId;

/// What lies behind a failure of the store.
#[derive(Debug)]
pub struct Cause(Box<dyn Error + Send + Sync>);

impl Cause {
    /// Wraps a driver's error.
    pub fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(error.into())
    }

    /// A cause that is only a sentence.
    pub fn text(sentence: &'static str) -> Self {
        Self(sentence.into())
    }

    /// The wrapped error, if it is of that type.
    pub fn downcast_ref<E: Error + 'static>(&self) -> Option<&E> {
        self.0.downcast_ref()
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for Cause {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}

/// Why a turn cannot be stored, whatever the store's state. Repeating it unchanged cannot help.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidTurn {
    /// NUL or another character no store keeps (T-60).
    #[error("{field} holds a NUL character (U+0000); remove it or send U+FFFD in its place")]
    Text {
        /// The field, as a path in the request.
        field: &'static str,
    },
    /// A field over its limit (T-59).
    #[error("{field} has {bytes} bytes; the limit is {max}")]
    TooLarge {
        /// The field, as a path in the request.
        field: &'static str,
        /// What was sent.
        bytes: usize,
        /// What is allowed.
        max: usize,
    },
    /// JSON nested too deep, or not JSON.
    #[error("{field} is not usable: {reason}")]
    Json {
        /// The field, as a path in the request.
        field: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// Metadata that is an array or a scalar.
    #[error("metadata must be a JSON object")]
    MetadataNotAnObject,
    /// Neither text holds anything.
    #[error("user_message and assistant_answer are both empty; send at least one of them")]
    Empty,
}

impl InvalidTurn {
    pub(crate) fn text(field: &'static str, fault: &TextFault) -> Self {
        match *fault {
            TextFault::TooLong { bytes, max } => Self::TooLarge { field, bytes, max },
            TextFault::Nul | TextFault::Blank { .. } => Self::Text { field },
        }
    }

    pub(crate) fn json(field: &'static str, fault: &JsonFault) -> Self {
        match *fault {
            JsonFault::TooLong { bytes, max } => Self::TooLarge { field, bytes, max },
            JsonFault::Nul => Self::Text { field },
            JsonFault::TooDeep { .. } | JsonFault::Syntax(_) => Self::Json {
                field,
                reason: fault.to_string(),
            },
        }
    }
}

/// Why the store refused a turn. Repeating it unchanged cannot help.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RejectReason {
    /// No tenant has this name.
    #[error("there is no tenant {0}")]
    UnknownTenant(TenantId),
    /// No user of the tenant has this id.
    #[error("the tenant has no such user; resolve the channel user again")]
    UnknownUser,
    /// The key was used for another turn (T-13). Nothing of that turn is told.
    #[error("client_message_id was used for another turn; use a new one")]
    IdempotencyMismatch,
    /// The turn or its user was deleted; it must not come back (T-57).
    #[error("the turn was deleted earlier and cannot be stored again")]
    Gone,
    /// Said longer ago than the tenant keeps turns (T-26).
    #[error("the turn is older than the tenant keeps turns")]
    Expired,
    /// The turn passed every check and the store still refuses its content, by itself.
    #[error("the store cannot keep this turn; change its content")]
    Unstorable,
}

/// Why an append did not answer with a plain success. The key is always there.
#[derive(Debug, thiserror::Error)]
pub enum AppendError {
    /// Stored, but something after the commit went wrong; count it as stored.
    #[error("the turn is stored, though the answer was lost")]
    Committed {
        /// The caller's key.
        key: ClientMessageId,
        /// The stored turn.
        turn_id: TurnId,
        /// What went wrong afterwards.
        #[source]
        cause: Cause,
    },
    /// Not stored, and repeating it cannot help.
    #[error("the turn was refused")]
    Rejected {
        /// The caller's key.
        key: ClientMessageId,
        /// Why.
        #[source]
        reason: RejectReason,
    },
    /// Unknown: it may be stored now or later. Repeat it with the same key.
    #[error("the store did not answer in time")]
    Timeout {
        /// The caller's key.
        key: ClientMessageId,
        /// What the driver said.
        #[source]
        cause: Cause,
    },
    /// Not stored. Repeat it with the same key.
    #[error("the store could not be reached")]
    Transport {
        /// The caller's key.
        key: ClientMessageId,
        /// What the driver said.
        #[source]
        cause: Cause,
    },
}

impl AppendError {
    /// The key of the turn this is about.
    pub fn key(&self) -> &ClientMessageId {
        match self {
            Self::Committed { key, .. }
            | Self::Rejected { key, .. }
            | Self::Timeout { key, .. }
            | Self::Transport { key, .. } => key,
        }
    }
}

/// Why a read or a clear was not done. Never an empty list in its place (failures.md 34).
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// No tenant has this name.
    #[error("there is no tenant {0}")]
    UnknownTenant(TenantId),
    /// The store did not answer.
    #[error("the store is not available")]
    Unavailable(#[source] Cause),
    /// A stored row cannot be read back.
    #[error("{table}.{column} of {row} cannot be read")]
    Corrupt {
        /// The table.
        table: &'static str,
        /// The column.
        column: &'static str,
        /// The row's id.
        row: String,
    },
}
