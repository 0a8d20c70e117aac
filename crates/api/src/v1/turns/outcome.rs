//! From the store's answer to the caller's.

use throughline_conversation_memory::{AppendError, AppendOutcome, Appended, ClientMessageId};
use throughline_domain::UserId;
use throughline_wire::{AppendAnswer, CheckedAppend, KeySource, append_problem};

use crate::failure::Failure;
use crate::shared::Shared;

/// What has to be kept of a turn while the store has it.
pub(super) struct Sent {
    key: ClientMessageId,
    key_source: KeySource,
    channel_kind: String,
    user: UserId,
}

impl Sent {
    pub(super) fn new(turn: &CheckedAppend, user: UserId) -> Self {
        Self {
            key: turn.key().clone(),
            key_source: turn.key_source,
            channel_kind: turn.channel_kind().as_str().to_owned(),
            user,
        }
    }

    /// Counts the outcome and says it. A turn that is committed is a success, whatever
    /// happened to the store's answer.
    pub(super) fn answer(
        &self,
        shared: &Shared,
        result: Result<Appended, AppendError>,
    ) -> Result<AppendAnswer, Failure> {
        let error = match result {
            Ok(appended) => {
                if appended.outcome == AppendOutcome::Stored {
                    shared.counters.appended(&self.channel_kind);
                }
                return Ok(AppendAnswer::new(&self.key, self.key_source, &appended));
            }
            Err(error) => error,
        };
        shared.counters.append_failed(&error);
        if let Some(problem) = append_problem(&error) {
            let failure = Failure::from(problem);
            return Err(match error {
                AppendError::Timeout { .. } | AppendError::Transport { .. } => {
                    failure.because(error)
                }
                AppendError::Rejected { .. } | AppendError::Committed { .. } => failure,
            });
        }
        let AppendError::Committed { turn_id, .. } = error else {
            return Err(Failure::internal(error));
        };
        shared.counters.appended(&self.channel_kind);
        let warning = error.to_string();
        tracing::warn!(
            cause = crate::failure::chain(&error),
            "a stored turn's answer was lost"
        );
        let (key, source) = (&self.key, self.key_source);
        Ok(AppendAnswer::committed(
            key, source, turn_id, self.user, warning,
        ))
    }
}
