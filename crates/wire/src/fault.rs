//! From a capability's refusal to a problem: which code, and which part of the request is at fault.

use throughline_conversation_memory::{
    AppendError, InvalidKey, InvalidName, InvalidTurn, NotKept, RejectReason,
};
use throughline_domain::TextFault;
use throughline_platform_identity::InvalidChannelUser;

use crate::{Code, Outcome, Problem};

/// Where in the request a value stood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place<'a> {
    /// In the body, by its JSON pointer.
    Body(&'a str),
    /// In the path or the query, by its name.
    Parameter(&'a str),
}

impl Place<'_> {
    /// A problem that names this place: `invalid_request` for a body, `invalid_parameter` otherwise.
    pub fn invalid(self, detail: impl Into<String>) -> Problem {
        let code = match self {
            Self::Body(_) => Code::InvalidRequest,
            Self::Parameter(_) => Code::InvalidParameter,
        };
        self.problem(code, detail)
    }

    /// A problem of this code that names this place.
    pub fn problem(self, code: Code, detail: impl Into<String>) -> Problem {
        let problem = Problem::new(code, detail);
        match self {
            Self::Body(pointer) => problem.at(pointer),
            Self::Parameter(name) => problem.in_parameter(name),
        }
    }
}

/// A text that cannot stand where it was sent.
pub fn text_problem(fault: &TextFault, place: Place<'_>) -> Problem {
    match fault {
        TextFault::Nul => place.problem(Code::InvalidText, fault.to_string()),
        TextFault::TooLong { .. } => place.problem(Code::PayloadTooLarge, fault.to_string()),
        TextFault::Blank { .. } => place.invalid(fault.to_string()),
    }
}

/// A channel kind, scope or canvas that cannot be stored.
pub fn name_problem(fault: &InvalidName, place: Place<'_>) -> Problem {
    match fault {
        InvalidName::Kind => place.invalid(fault.to_string()),
        InvalidName::Scope(text) | InvalidName::Canvas(text) => text_problem(text, place),
    }
}

/// A client message id that cannot be a key.
pub fn key_problem(fault: &InvalidKey, place: Place<'_>) -> Problem {
    match fault {
        InvalidKey::Text(text) => text_problem(text, place),
        InvalidKey::TooLong { .. } => place.problem(Code::PayloadTooLarge, fault.to_string()),
    }
}

/// A channel user that cannot be stored; `pointer` is the ref's own.
pub fn channel_user_problem(fault: &InvalidChannelUser, pointer: &str) -> Problem {
    let (field, text) = match fault {
        InvalidChannelUser::Id(text) => ("id", text),
        InvalidChannelUser::DisplayName(text) => ("display_name", text),
        InvalidChannelUser::Email(text) => ("email", text),
    };
    text_problem(text, Place::Body(&format!("{pointer}/{field}")))
}

/// A turn that no provider stores.
pub fn turn_problem(fault: &InvalidTurn) -> Problem {
    let (code, field) = match fault {
        InvalidTurn::Text { field } => (Code::InvalidText, *field),
        InvalidTurn::TooLarge { field, .. } => (Code::PayloadTooLarge, *field),
        InvalidTurn::Json { field, .. } => (Code::InvalidRequest, *field),
        InvalidTurn::MetadataNotAnObject => (Code::InvalidRequest, "metadata"),
        InvalidTurn::Empty => (Code::EmptyTurn, "turn"),
    };
    Problem::new(code, fault.to_string()).at(format!("/{}", field.replace('.', "/")))
}

/// An append that was not answered with a plain success; `None` when the turn is stored all the same.
pub fn append_problem(error: &AppendError) -> Option<Problem> {
    let problem = match error {
        AppendError::Committed { .. } => return None,
        AppendError::Rejected { reason, .. } => rejection(reason),
        AppendError::Timeout { .. } => {
            let detail = "the store did not answer in time; repeat with the same client_message_id";
            Problem::new(Code::Unavailable, detail)
                .with_outcome(Outcome::Unknown)
                .retry_after(1)
        }
        AppendError::Transport { .. } => {
            let detail = "the store could not be reached; repeat with the same client_message_id";
            Problem::new(Code::Unavailable, detail)
                .with_outcome(Outcome::NotStored)
                .retry_after(1)
        }
    };
    Some(problem.about(error.key().as_str()))
}

/// An append that could not be queued either; nothing was claimed.
pub fn queue_problem(not_kept: &NotKept) -> Problem {
    let code = match not_kept {
        NotKept::UnknownTenant(_) => Code::UnknownTenant,
        NotKept::Gone => Code::Gone,
        NotKept::KeyConflict => Code::IdempotencyMismatch,
        NotKept::DeadLetter => Code::DeadLetter,
        NotKept::Unavailable { perhaps_kept, .. } => {
            let detail = "the turn could not be stored nor queued; repeat with the same \
                          client_message_id";
            let outcome = if *perhaps_kept {
                Outcome::Unknown
            } else {
                Outcome::NotStored
            };
            return Problem::new(Code::Unavailable, detail)
                .with_outcome(outcome)
                .retry_after(1);
        }
    };
    Problem::new(code, not_kept.to_string())
}

fn rejection(reason: &RejectReason) -> Problem {
    let code = match reason {
        RejectReason::UnknownTenant(_) => Code::UnknownTenant,
        RejectReason::UnknownUser => Code::UnknownUser,
        RejectReason::IdempotencyMismatch => Code::IdempotencyMismatch,
        RejectReason::Gone => Code::Gone,
        RejectReason::Expired => Code::Expired,
        RejectReason::Unstorable => Code::InvalidRequest,
    };
    Problem::new(code, reason.to_string())
}
