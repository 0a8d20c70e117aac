//! The five answers an append can get, and the two of the outbox.

use std::error::Error;

use throughline_conversation_memory::{AppendError, Appended, Cause};
use throughline_domain::{TurnId, UserId};

use crate::metrics::WriteFailure;

/// What became of one append.
pub(crate) enum Answer {
    /// The store has it, for this user.
    Stored(TurnId, UserId),
    /// The store has it, though something went wrong afterwards.
    Committed(TurnId, Cause),
    /// It will never be stored.
    Refused(Box<dyn Error + Send + Sync>),
    /// It is in the outbox.
    Queued,
    /// It was not asked for: a turn before it in its scope failed.
    Held,
    /// It may be stored or not; it has to be tried again, under its key.
    Lost(WriteFailure, Box<dyn Error + Send + Sync>),
}

impl Answer {
    /// Without an answer of the store.
    pub(super) fn lost(why: &'static str) -> Self {
        Self::Lost(WriteFailure::Timeout, Box::new(Cause::text(why)))
    }

    /// Whether it need not be tried again, which also shows that the service works.
    pub(super) fn shows_life(&self) -> bool {
        !matches!(self, Self::Lost(..) | Self::Held)
    }
}

impl From<Result<Appended, AppendError>> for Answer {
    fn from(result: Result<Appended, AppendError>) -> Self {
        match result {
            Ok(appended) => Self::Stored(appended.turn_id, appended.user_id),
            Err(AppendError::Committed { turn_id, cause, .. }) => Self::Committed(turn_id, cause),
            Err(AppendError::Rejected { reason, .. }) => Self::Refused(Box::new(reason)),
            Err(AppendError::Timeout { cause, .. }) => {
                Self::Lost(WriteFailure::Timeout, Box::new(cause))
            }
            Err(AppendError::Transport { cause, .. }) => {
                Self::Lost(WriteFailure::Transport, Box::new(cause))
            }
        }
    }
}
