//! One turn between its caller and a writer: who has it, and the way its answer comes back.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use throughline_conversation_memory::{AppendError, Cause, ClientMessageId, NewTurn};
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::not_stored;
use crate::memory::Answer;

/// The writer's end: the turn, owned, so that it outlives its caller.
pub(super) struct Queued {
    pub(super) turn: NewTurn,
    reply: oneshot::Sender<Answer>,
    taken: Arc<AtomicBool>,
}

/// The caller's end. Dropped before a writer took the turn, it takes the turn back.
pub(super) struct Waiting {
    key: ClientMessageId,
    state: State,
}

enum State {
    Refused(&'static str),
    Waiting {
        answer: oneshot::Receiver<Answer>,
        taken: Arc<AtomicBool>,
    },
}

impl Queued {
    /// Both ends.
    pub(super) fn new(turn: NewTurn) -> (Self, Waiting) {
        let (reply, answer) = oneshot::channel();
        let taken = Arc::new(AtomicBool::new(false));
        let key = turn.key().clone();
        let state = State::Waiting {
            answer,
            taken: taken.clone(),
        };
        let queued = Self { turn, reply, taken };
        (queued, Waiting { key, state })
    }

    /// Whether the turn is the writer's now; the caller may have taken it back.
    pub(super) fn take(&self) -> bool {
        !self.taken.swap(true, Ordering::AcqRel)
    }

    /// Tells the caller, if there still is one.
    pub(super) fn answer(self, answer: Answer) {
        // Nobody listens any more: the answer is dropped, the turn stays as it is.
        let _ = self.reply.send(answer);
    }
}

impl Waiting {
    /// A turn that was not even queued.
    pub(super) fn refused(turn: &NewTurn, why: &'static str) -> Self {
        Self {
            key: turn.key().clone(),
            state: State::Refused(why),
        }
    }

    pub(super) fn is_refused(&self) -> bool {
        matches!(self.state, State::Refused(_))
    }

    /// Waits for the answer; from the deadline on only if a writer has the turn.
    pub(super) async fn answer(mut self, deadline: Instant) -> Answer {
        let (answer, taken) = match &mut self.state {
            State::Refused(why) => return not_stored(&self.key, why),
            State::Waiting { answer, taken } => (answer, taken),
        };
        let answered = match tokio::time::timeout_at(deadline, &mut *answer).await {
            Ok(answered) => answered,
            Err(_) if !taken.swap(true, Ordering::AcqRel) => {
                return not_stored(&self.key, "no writer came to the turn in time");
            }
            Err(_) => answer.await,
        };
        answered.unwrap_or_else(|_| {
            Err(AppendError::Timeout {
                key: self.key.clone(),
                cause: Cause::text("the writer ended before its answer"),
            })
        })
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let State::Waiting { taken, .. } = &self.state {
            taken.store(true, Ordering::Release);
        }
    }
}
